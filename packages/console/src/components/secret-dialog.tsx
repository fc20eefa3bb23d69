import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';
import { Notice } from './notice.tsx';

/** Shows a secret once. It closes only after the secret was copied or the user confirmed. */
export function SecretDialog(props: {
  readonly title: string;
  readonly secret: string;
  /** "the token" */
  readonly what: string;
  /** Whether the server can read it again. Default: it keeps only a hash. */
  readonly isReadable?: boolean;
  /** What to do with it. */
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}) {
  const { title, secret, what, isReadable = false, children, onClose } = props;
  const [isCopied, setCopied] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  return (
    <Dialog title={title} isWide onClose={isCopied || isLeaving ? onClose : () => setLeaving(true)}>
      <div class="stack">
        <p>
          <strong>Copy {what} now. You won’t see it again.</strong>{' '}
          {isReadable ? null : 'The server keeps only a hash.'}
        </p>
        <div class="secret">
          <code>{secret}</code>
          <CopyButton text={secret} what={what} hasFocus onCopied={() => setCopied(true)} />
        </div>
        {children}
        {isLeaving && !isCopied ? (
          <Notice kind="failed" title="You haven’t copied this yet">
            <p>After you close this dialog, it can’t be shown again.</p>
          </Notice>
        ) : null}
        <div class="actions actions-end">
          <Button
            onClick={isCopied || isLeaving ? onClose : () => setLeaving(true)}
            kind={isLeaving && !isCopied ? 'danger' : 'primary'}
          >
            {isLeaving && !isCopied ? 'Close without copying' : 'Done'}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
