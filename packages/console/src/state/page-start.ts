import type { PageStart } from '@tenon/protocol';

/** Takes the data out of the document that the server puts there for a browser that is signed in. */
export function takePageStart(): PageStart | undefined {
  const element = document.getElementById('page-start');
  element?.remove();
  return element === null ? undefined : JSON.parse(element.textContent);
}
