"""Fonts and colours of the page: system fonts only, so that no other host is asked for one."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

FONT = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Arial")
FONT += ("PingFang TC", "Microsoft JhengHei", "Noto Sans CJK TC", "sans-serif")
MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")

STYLE = tuple(sorted(Path(__file__).parent.glob("style/*.css")))
"""The style sheets, in the order in which they are joined; base.css comes first by its name."""


def theme() -> gr.themes.Base:
    """Gradio's base theme with our ink, paper and lines; style/ does the rest."""
    return gr.themes.Base(
        primary_hue="slate",
        secondary_hue="slate",
        neutral_hue="slate",
        spacing_size="sm",
        radius_size="sm",
        text_size="md",
        font=FONT,
        font_mono=MONO,
    ).set(
        body_background_fill="var(--paper)",
        body_background_fill_dark="var(--paper)",
        body_text_color="var(--ink)",
        body_text_color_dark="var(--ink)",
        body_text_color_subdued="var(--soft)",
        body_text_color_subdued_dark="var(--soft)",
        background_fill_primary="var(--sheet)",
        background_fill_primary_dark="var(--sheet)",
        background_fill_secondary="var(--paper)",
        background_fill_secondary_dark="var(--paper)",
        block_background_fill="transparent",
        block_background_fill_dark="transparent",
        block_border_width="0px",
        block_border_width_dark="0px",
        block_shadow="none",
        block_shadow_dark="none",
        block_padding="0",
        block_label_text_color="var(--ink)",
        block_label_text_color_dark="var(--ink)",
        block_title_text_color="var(--ink)",
        block_title_text_color_dark="var(--ink)",
        block_title_text_weight="600",
        block_title_text_size="13px",
        block_info_text_color="var(--soft)",
        block_info_text_color_dark="var(--soft)",
        block_info_text_size="12px",
        border_color_primary="var(--rule)",
        border_color_primary_dark="var(--rule)",
        border_color_accent="var(--ink)",
        border_color_accent_dark="var(--ink)",
        input_background_fill="var(--sheet)",
        input_background_fill_dark="var(--well)",
        input_border_color="var(--edge)",
        input_border_color_dark="var(--edge)",
        input_border_color_focus="var(--focus)",
        input_border_color_focus_dark="var(--focus)",
        input_border_width="1px",
        input_border_width_dark="1px",
        input_padding="7px 10px",
        input_text_size="14px",
        input_shadow_focus="0 0 0 2px color-mix(in srgb, var(--focus) 30%, transparent)",
        input_shadow_focus_dark="0 0 0 2px color-mix(in srgb, var(--focus) 40%, transparent)",
        checkbox_label_background_fill="var(--sheet)",
        checkbox_label_background_fill_dark="var(--well)",
        checkbox_label_background_fill_selected="var(--sheet)",
        checkbox_label_background_fill_selected_dark="var(--well)",
        checkbox_label_border_color="var(--edge)",
        checkbox_label_border_color_dark="var(--edge)",
        checkbox_label_border_color_selected="var(--ink)",
        checkbox_label_border_color_selected_dark="var(--ink)",
        checkbox_label_border_width="1px",
        checkbox_label_text_color_selected="var(--ink)",
        checkbox_label_text_color_selected_dark="var(--ink)",
        checkbox_background_color="var(--sheet)",
        checkbox_background_color_dark="var(--sheet)",
        checkbox_background_color_selected="var(--focus)",
        checkbox_background_color_selected_dark="var(--focus)",
        checkbox_border_color="var(--edge)",
        checkbox_border_color_dark="var(--edge)",
        checkbox_border_color_selected="var(--focus)",
        checkbox_border_color_selected_dark="var(--focus)",
        button_primary_background_fill="var(--action)",
        button_primary_background_fill_dark="var(--action)",
        button_primary_background_fill_hover="var(--action-hover)",
        button_primary_background_fill_hover_dark="var(--action-hover)",
        button_primary_text_color="var(--on-action)",
        button_primary_text_color_dark="var(--on-action)",
        button_secondary_background_fill="transparent",
        button_secondary_background_fill_dark="transparent",
        button_secondary_background_fill_hover="var(--hover)",
        button_secondary_background_fill_hover_dark="var(--hover)",
        button_secondary_text_color="var(--ink)",
        button_secondary_text_color_dark="var(--ink)",
        button_secondary_border_color="var(--edge)",
        button_secondary_border_color_dark="var(--edge)",
        button_border_width="1px",
        button_border_width_dark="1px",
        button_cancel_background_fill="transparent",
        button_cancel_background_fill_dark="transparent",
        button_cancel_background_fill_hover="color-mix(in srgb, var(--bad) 12%, transparent)",
        button_cancel_background_fill_hover_dark="color-mix(in srgb, var(--bad) 18%, transparent)",
        button_cancel_text_color="var(--bad)",
        button_cancel_text_color_dark="var(--bad)",
        button_cancel_border_color="var(--bad)",
        button_cancel_border_color_dark="var(--bad)",
        link_text_color="var(--focus)",
        link_text_color_dark="var(--focus)",
        shadow_drop="none",
        shadow_drop_lg="none",
    )


def head() -> str:
    """The style sheet, as it is: Gradio would rewrite the selectors of one passed as ``css``."""
    return f"<style>{style()}</style>"


def style() -> str:
    """All of our own CSS."""
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in STYLE)
