// The script of the documentation's pages, which work without it too.
import '../styles/tokens.css';
import '../styles/base.css';
import './docs.css';
import { applyTheme, readTheme } from '../state/theme.ts';
import { addCopyButtons } from './copy-buttons.ts';
import { addSearch } from './search.ts';

applyChosenTheme();
document.addEventListener('DOMContentLoaded', () => {
  addCopyButtons();
  addSearch();
  makeScrollable();
  openContents();
  document.querySelector('.pages [aria-current]')?.scrollIntoView({ block: 'nearest' });
});

/** Applies the choice that the user made in the console. */
function applyChosenTheme(): void {
  try {
    applyTheme(readTheme());
  } catch {
    // The browser blocks storage: the system's theme stays.
  }
}

/** Lets keyboards scroll what is wider than the page. */
function makeScrollable(): void {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0');
      else target.removeAttribute('tabindex');
    }
  });
  for (const element of document.querySelectorAll('.prose pre, .prose .table')) observer.observe(element);
}

/** Opens the list of the page's sections where it has a column of its own. */
function openContents(): void {
  const contents = document.querySelector<HTMLDetailsElement>('details.sections');
  const isWide = matchMedia('(width >= 80rem)');
  const update = (): void => {
    if (contents !== null) contents.open = isWide.matches;
  };
  isWide.addEventListener('change', update);
  update();
}
