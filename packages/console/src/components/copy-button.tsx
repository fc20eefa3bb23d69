import { useState } from 'preact/hooks';
import { useToast } from '../state/services.ts';
import { Button } from './button.tsx';

/** Copies a text to the clipboard. */
export function CopyButton({
  text,
  what,
  hasFocus,
  onCopied,
}: {
  readonly text: string;
  /** "the link" */
  readonly what: string;
  readonly hasFocus?: boolean;
  readonly onCopied?: (() => void) | undefined;
}) {
  const toast = useToast();
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    if (await copyText(text)) {
      setCopied(true);
      toast(`Copied ${what}.`);
      onCopied?.();
      setTimeout(() => setCopied(false), 2_000);
    } else {
      toast('The browser does not allow copying here. Select the text and copy it yourself.', 'failed');
    }
  };
  return (
    <Button
      kind="quiet"
      isSmall
      onClick={() => void copy()}
      label={`${isCopied ? 'Copied' : 'Copy'} ${what}`}
      hasFocus={hasFocus}
    >
      {isCopied ? 'Copied' : 'Copy'}
    </Button>
  );
}

/** Something to copy, shown with its button. */
export function CopyText({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <span class="copy-text">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  );
}

/** Falls back to `execCommand`, because the clipboard API requires a secure context. */
async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard !== undefined) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // Not allowed; the fallback may be.
  }
  const active = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  area.className = 'visually-hidden';
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (active instanceof HTMLElement) active.focus();
  return isCopied;
}
