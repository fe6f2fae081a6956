"""The name of a browser for people, from its User-Agent. It holds no text of the request."""

# The first match counts: most browsers also name the ones that they are compatible with.
BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser/": "Samsung Internet",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "Chrome/": "Chrome",
    "CriOS/": "Chrome",
    "Safari/": "Safari",
}
SYSTEMS = {
    "Android": "Android",
    "iPhone": "iOS",
    "iPad": "iPadOS",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def browser_name(user_agent: str) -> str:
    """Return a name such as `Firefox on Linux`; without a known browser it begins with `Browser`."""
    browser = next((name for mark, name in BROWSERS.items() if mark in user_agent), "Browser")
    system = next((name for mark, name in SYSTEMS.items() if mark in user_agent), None)
    return f"{browser} on {system}" if system else browser
