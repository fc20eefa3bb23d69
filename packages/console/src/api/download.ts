import type { ApiClient } from './client.ts';

/**
 * Fetches the bytes behind a content address and has the browser save them: a plain link can't, since the API takes no cookies.
 *
 * @param fileName as the browser proposes it
 */
export async function downloadContent(api: ApiClient, contentAddress: string, fileName: string): Promise<void> {
  const response = await api.send('GET', `/api/v1/c/${contentAddress}`, { headers: { accept: 'application/wasm' } });
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // a browser may read it only once the person has said where to save it
}
