import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useToast } from '../../state/services.ts';

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Opens the search by a button, with Ctrl-K or Cmd-K, and with `/`. The dialog's code is loaded on demand. */
export function useSearch(): { readonly dialog: ComponentChildren; open(): void } {
  const toast = useToast();
  const [Dialog, setDialog] = useState<ComponentType<{ readonly onClose: () => void }>>();
  const open = (): void => {
    import('./search-dialog.tsx').then(
      ({ SearchDialog }) => setDialog(() => SearchDialog),
      () => toast('The search could not be loaded.', 'failed'),
    );
  };
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!isShortcut(event) || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      open();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  return { open, dialog: Dialog === undefined ? null : <Dialog onClose={() => setDialog(undefined)} /> };
}

export function SearchButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <button type="button" class="search-button" aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'} onClick={onClick}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d="M10.5 10.5l3.5 3.5M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0" fill="none" stroke="currentColor" />
      </svg>
      <span class="search-button-text">
        Search{' '}
        <span class="shortcut" aria-hidden="true">
          {isMac ? '⌘K' : 'Ctrl K'}
        </span>
      </span>
    </button>
  );
}

function isShortcut({ key, ctrlKey, metaKey, altKey, shiftKey, target }: KeyboardEvent): boolean {
  if (key.toLowerCase() === 'k') return (isMac ? metaKey : ctrlKey) && !altKey && !shiftKey;
  if (key !== '/' || ctrlKey || metaKey || altKey) return false;
  return !(target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select')));
}
