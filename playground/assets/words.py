"""The words that the corpus and the datasets are made of, and a few ways to draw from them.

Plain lists, short on purpose: a model of about a million parameters should meet each word often.
"""

# ruff: noqa: SIM905 - a list of words reads best as a line of text.

from __future__ import annotations

from random import Random

FIRST_NAMES = (
    "Ada Aisha Alan Alma Amir Ana Anton Aria Ben Bruno Carla Cem Chen Clara Dana David Dina "
    "Elena Elif Emil Emma Erik Eva Farid Felix Fiona Grace Hana Hugo Ida Igor Ines Ivan Jana "
    "Jonas Julia Kai Karim Kenji Lara Leo Lena Lina Luca Maria Marta Max Maya Milan Mina "
    "Nadia Nina Noah Nora Olga Omar Oscar Paul Petra Priya Rania Ravi Rosa Sam Sara Sofia "
    "Tara Theo Tom Vera Victor Wei Yara Yusuf Zoe"
).split()

LAST_NAMES = (
    "Abel Adler Bauer Becker Berg Bianchi Blake Bosch Brandt Carter Castro Chen Cole Costa "
    "Cruz Dahl Diaz Dubois Evans Fischer Flores Fox Garcia Gomez Grant Gruber Haddad Hansen "
    "Hill Horvat Ito Jensen Kaya Keller Khan Kim King Klein Kovacs Lang Larsen Lee Lopez "
    "Meyer Moreau Mori Moss Nagy Novak Olsen Park Patel Perez Popov Reed Rossi Roy Sato Silva "
    "Singh Stone Suzuki Tanaka Torres Vega Vogel Walsh Weber Wolf Wood Yilmaz Young"
).split()

CITIES = (
    "Accra Amman Ankara Athens Baku Basel Berlin Bergen Bern Bogota Bonn Boston Bremen Cairo "
    "Cork Dakar Delhi Denver Doha Dublin Geneva Genoa Ghent Graz Hanoi Havana Izmir Kyiv "
    "Kyoto Lagos Leeds Lille Lima Linz Lisbon London Lyon Madrid Malmo Miami Milan Minsk "
    "Nairobi Naples Nice Osaka Oslo Paris Perth Porto Prague Quito Riga Rome Seoul Seville "
    "Sofia Split Sydney Tallinn Tampa Tokyo Toronto Tunis Turin Utrecht Vienna Vilnius Warsaw "
    "Zagreb Zurich"
).split()

JOBS = (
    "actor architect artist baker barber builder butcher carpenter chef clerk coach cook "
    "dancer dentist designer doctor driver editor engineer farmer gardener guide judge lawyer "
    "librarian mechanic miller musician nurse painter pilot plumber poet potter sailor "
    "scientist singer tailor teacher translator vet waiter weaver writer"
).split()

OBJECTS = (
    "apple ball bell bike boat book bottle bowl box bread brush chair clock coat coin cup "
    "desk door drum egg fan flag fork glass hat jar kettle key kite knife lamp leaf lemon map "
    "mirror mug nut onion pan pear pen plate plum pot ring rope sack shoe soap sock spoon "
    "stone table tent towel tray vase wheel"
).split()

COLOURS = (
    "amber black blue brown gold green grey navy orange pink purple red silver white yellow".split()
)

MONTHS = (
    "January February March April May June July August September October November December"
).split()

MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_ONSETS = "b br ch d dr f fl g gr h j k kl l m n p pr r s sh st t tr v w z".split()
_VOWELS = "a e i o u ai ea io".split()
_CODAS = ["", "", "", "n", "r", "s", "l", "m", "k", "t"]


def full_name(rng: Random) -> str:
    """A first and a last name."""
    return f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}"


def article(noun: str) -> str:
    """``an artist``, ``a baker``."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def invented(rng: Random) -> str:
    """A word that does not exist, so that copying it takes copying and not knowing."""
    syllables = rng.choice((1, 2, 2, 3))
    parts = (rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables))
    return "".join(parts) + rng.choice(_CODAS)


def ordinal(number: int) -> str:
    """``1st``, ``22nd``, ``13th``."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
