import { downloadContent } from '../api/download.ts';
import { useApi, useToast } from '../state/services.ts';
import { useSubmit } from '../state/use-submit.ts';
import { Button } from './button.tsx';

/** Saves a plugin's module as `<name>.wasm`. */
export function DownloadButton(props: {
  readonly name: string;
  readonly contentAddress: string;
  /** What it does, where "Download <name>" does not say enough. */
  readonly label?: string;
}) {
  const { name, contentAddress, label = `Download ${name}` } = props;
  const api = useApi();
  const toast = useToast();
  const { submit, isBusy } = useSubmit(() =>
    downloadContent(api, contentAddress, `${name}.wasm`).catch((error: Error) => toast(error.message, 'failed')),
  );
  return (
    <Button kind="quiet" isSmall isBusy={isBusy} onClick={submit} label={label}>
      Download
    </Button>
  );
}
