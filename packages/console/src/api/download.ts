import type { ApiClient } from './client.ts';
import { saveBlob } from './save-blob.ts';

/**
 * Fetches the bytes behind a content address and has the browser save them.
 *
 * @param fileName as the browser proposes it
 */
export async function downloadContent(api: ApiClient, contentAddress: string, fileName: string): Promise<void> {
  const response = await api.send('GET', `/api/v1/c/${contentAddress}`, { headers: { accept: 'application/wasm' } });
  saveBlob(await response.blob(), fileName);
}
