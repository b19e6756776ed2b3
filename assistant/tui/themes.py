"""Dark, light and high contrast. NO_COLOR is Textual's own: it leaves brightness alone."""

from __future__ import annotations

from textual.theme import Theme

DARK, LIGHT, CONTRAST = "dark", "light", "contrast"
# What a person types -> Textual's name of it.
NAMES = {DARK: "textual-dark", LIGHT: "textual-light", CONTRAST: "maple-contrast"}

HIGH_CONTRAST = Theme(
    name="maple-contrast",
    primary="#00ffff",
    secondary="#ffff00",
    accent="#ffff00",
    warning="#ffff00",
    error="#ff8080",
    success="#00ff00",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#000000",
    boost="#202020",
    dark=True,
    text_alpha=1.0,
    variables={
        "text-muted": "#e0e0e0",
        "footer-background": "#000000",
        "footer-key-foreground": "#ffff00",
        "footer-description-foreground": "#ffffff",
        "block-cursor-background": "#ffff00",
        "block-cursor-foreground": "#000000",
        "border": "#ffffff",
        "scrollbar": "#ffffff",
    },
)
