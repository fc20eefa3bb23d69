import { saveBlob } from '../api/save-blob.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';

/** Shows recovery codes once, to copy or download. */
export function RecoveryCodesDialog({
  codes,
  onClose,
}: {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}) {
  const text = `${codes.join('\n')}\n`;
  return (
    <Dialog title="Save your recovery codes" isFirm onClose={onClose}>
      <div class="stack">
        <p>
          <strong>You won’t see them again.</strong> If you lose your passkey, each code signs you in once, after your
          password. Earlier codes don’t work.
        </p>
        <ul class="recovery-codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <div class="actions">
          <CopyButton text={text} what="the recovery codes" hasFocus />
          <Button
            kind="quiet"
            onClick={() => saveBlob(new Blob([text], { type: 'text/plain' }), 'tenon-recovery-codes.txt')}
          >
            Download
          </Button>
        </div>
        <div class="actions actions-end">
          <Button onClick={onClose}>I saved them</Button>
        </div>
      </div>
    </Dialog>
  );
}
