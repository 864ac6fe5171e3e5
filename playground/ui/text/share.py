"""Sentences about sharing the page: its login, its visitors, its link."""

from __future__ import annotations

from playground import language

# On the page.
LOG_IN = "Log in"
LOG_OUT = "Log out"
LOGGED_IN_AS = "Logged in as {name}"
WATCHING = "You are watching. Start, stop and all else that changes something ask for a login."
LOG_IN_TO_START = "Log in to start"
LOG_IN_FIRST = "This changes something here, so it asks for a login: use Log in at the top."
BUSY = "Others who watch are asking for the same; try again in a moment, or log in."

# The login page.
LOGIN_TITLE = "Log in to FP4 Playground"
LOGIN_INTRO = "Watching needs no login. Starting, stopping and changing anything does."
NAME = "Name"
PASSWORD = "Password"
BACK = "Back to the page without a login"
WRONG = "Name and password do not go together; try again."
TOO_OFTEN = "Too many wrong passwords for this name; wait {seconds} seconds and try again."

# What the endpoints answer to what they do not carry out.
REFUSED = "This changes something, so it asks for a login."
CROSS_SITE = "Another web site sent this; the page carries out only what it is asked itself."
TOO_LARGE = "A file may have {most} MiB at most; send one at a time, and say its length."
TOO_LONG = "A request may have {most} KiB at most, and must say its length."
NOT_JSON = "A request to the page is JSON."
ELSEWHERE = "Files of other hosts are not fetched; upload the file itself."
NOT_SERVED = "The page does not use this, so it is not served."

# On the terminal.
SHARE_HELP = "open a public link through Gradio's tunnel; changing anything then asks for a login"
LOGIN_HELP = "ask for a login to change anything; always so with --share or a --host for others"
USERS_HELP = "who may log in: a file with lines of name:hash; `python -m playground user NAME`"
OPENING = "Opening a share link through Gradio's tunnel…"
SHARED = "Anyone can watch on {url}"
SHARE_EXPIRES = "The link is temporary: Gradio ends it after a week at most. It goes with the page."
LOGIN_ASKED = "Whoever wants to start, stop or change anything logs in as: {names}"
GENERATED = "Log in as {name} with the password {password}  (made for this start, shown once)"
NO_TUNNEL = (
    "No share link could be opened: {why}. The page is served on this machine alone; to show a "
    "comparison elsewhere, write it to one file: {report}"
)
WHY_NO_SERVER = "Gradio's share server was not reached, so there may be no internet here"
WHY_NO_CLIENT = "the tunnel's program (frpc) could not be downloaded"
WHY_NOT_GENUINE = (
    "the tunnel's program (frpc) that was downloaded is not the one Gradio vouches for"
)
WHY_NO_FOLDER = (
    "the folder the page was started in cannot be written, and its certificate goes there"
)
WHY_REFUSED = "the share server did not accept the tunnel"
WHY_SLOW = "the share server did not answer within {seconds} seconds"
WHY_OTHER = "the tunnel ended with {error}"

language.words(__name__)
