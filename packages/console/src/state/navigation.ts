/*
 * Whether the current page is the first since the document was loaded. On the first page, the browser has already set the
 * focus.
 */
const marker = 'navigated';

export function markNavigated(): void {
  document.documentElement.dataset[marker] = 'true';
}

export function hasNavigated(): boolean {
  return document.documentElement.dataset[marker] !== undefined;
}
