/** The color scheme: the system's, or the user's choice, which this browser stores. */
export type Theme = 'system' | 'light' | 'dark';

const key = 'tenon.theme';

/** The event of the window after the user has chosen a theme. */
export const themeChanged = 'tenon-theme';

/** Reads this browser's choice. */
export function readTheme(): Theme {
  const value = localStorage.getItem(key);
  return value === 'light' || value === 'dark' ? value : 'system';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function saveTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  applyTheme(theme);
  dispatchEvent(new Event(themeChanged));
}
