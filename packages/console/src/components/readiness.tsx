import { useEffect, useState } from 'preact/hooks';
import { toApiError } from '../api/api-error.ts';
import { basePath } from '../base-path.ts';

/** The public readiness of the server, for when sign-in fails. Fetched once per `cause`. */
export function Readiness({ cause }: { readonly cause: unknown }) {
  const [words, setWords] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    readWords(controller.signal).then(setWords, () => setWords(undefined));
    return () => controller.abort();
  }, [cause]);
  return words === undefined ? null : <p>{words}</p>;
}

async function readWords(signal: AbortSignal): Promise<string> {
  const response = await fetch(`${basePath}readyz`, { signal, credentials: 'omit', cache: 'no-store' });
  if (response.ok) return 'The server reports that it is ready.';
  return (await toApiError(response)).message;
}
