import { find, type Hit, type Section } from './find.ts';

/** Shows the search field, and below it the sections that contain what is typed. The index is fetched when the field gets the focus. */
export function addSearch(): void {
  const form = document.querySelector<HTMLFormElement>('form.search');
  const field = form?.querySelector('input');
  const results = form?.querySelector<HTMLElement>('.results');
  const status = form?.querySelector('[role="status"]');
  const root = document.documentElement.dataset.root ?? '';
  if (!(form && field && results && status)) return;
  form.hidden = false;

  let index: Promise<readonly Section[]> | undefined;
  const load = (): Promise<readonly Section[]> => {
    index ??= fetch(`${root}docs/search.json`).then((response) => {
      if (!response.ok) throw new Error(`status ${response.status}`);
      return response.json() as Promise<readonly Section[]>;
    });
    index.catch(() => {
      index = undefined;
    });
    return index;
  };
  const close = (): void => {
    results.replaceChildren();
    results.hidden = true;
    status.textContent = '';
  };
  const show = async (): Promise<void> => {
    const query = field.value.trim();
    if (query === '') return close();
    try {
      const hits = find(await load(), query);
      if (field.value.trim() !== query) return;
      results.hidden = false;
      results.replaceChildren(
        ...(hits.length === 0 ? [message(`Nothing contains “${query}”.`)] : [listOf(hits, root)]),
      );
      status.textContent = hits.length === 1 ? '1 result' : `${hits.length} results`;
    } catch {
      results.hidden = false;
      results.replaceChildren(message('The search index could not be loaded.'));
    }
  };

  field.addEventListener('focus', () => void load().catch(() => {}), { once: true });
  field.addEventListener('input', () => void show());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    results.querySelector('a')?.click();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      close();
      field.focus();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      moveFocus(event, [field, ...results.querySelectorAll('a')]);
    }
  });
  results.addEventListener('click', close); // the result may be on this page
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !form.contains(target)) close();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    const isShortcut = event.key === '/' ? !isTyping : event.key === 'k' && (event.ctrlKey || event.metaKey);
    if (!isShortcut) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

function moveFocus(event: KeyboardEvent, elements: readonly HTMLElement[]): void {
  event.preventDefault();
  const from = elements.indexOf(document.activeElement as HTMLElement);
  elements[from + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
}

function listOf(hits: readonly Hit[], root: string): HTMLElement {
  const list = document.createElement('ul');
  list.append(
    ...hits.map(({ section: { path, page, title }, excerpt }) => {
      const link = document.createElement('a');
      link.href = /^(?:#|$)/.test(path) ? `${root}docs${path}` : `${root}docs/${path}`;
      const heading = document.createElement('strong');
      heading.textContent = title === '' ? page : title;
      link.append(heading);
      if (title !== '') link.append(withClass('span', 'soft', page));
      link.append(withClass('small', 'soft', excerpt));
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
  return list;
}

function message(text: string): HTMLElement {
  return withClass('p', 'soft', text);
}

function withClass(name: string, className: string, text: string): HTMLElement {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
}
