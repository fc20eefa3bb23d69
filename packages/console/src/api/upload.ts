import { apiErrorOf, hasCode, unreachable } from './api-error.ts';
import type { ApiClient } from './client.ts';

export interface UploadOptions {
  /** Where to, as the browser is to be given it. */
  readonly url: string;
  readonly body: Blob;
  readonly contentType: string;
  /** How many of the body's bytes have left this machine. */
  readonly onProgress: (sentBytes: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Sends bytes with `PUT` and tells how many are sent, which `fetch` can't (https://github.com/whatwg/fetch/issues/607).
 *
 * @throws ApiError what the server answered, or that it can't be reached
 * @throws DOMException `AbortError` when the signal ends it
 */
export async function upload<T>(api: ApiClient, options: UploadOptions): Promise<T> {
  try {
    return await send<T>(await api.accessToken(), options);
  } catch (error) {
    // A token may end before its time while the session goes on; another one is tried once.
    if (!hasCode(error, 'invalid_token')) throw error;
    api.forget();
    return send<T>(await api.accessToken(), options);
  }
}

function send<T>(token: string, { url, body, contentType, onProgress, signal }: UploadOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = (): void => request.abort();
    const settle = (how: () => void) => (): void => {
      signal.removeEventListener('abort', stop);
      how();
    };
    request.open('PUT', url);
    request.setRequestHeader('authorization', `Bearer ${token}`);
    request.setRequestHeader('content-type', contentType);
    request.setRequestHeader('accept', 'application/json');
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = settle(() => {
      const { status, responseText } = request;
      const headers = { get: (name: string) => request.getResponseHeader(name) };
      if (status >= 200 && status < 300) resolve(JSON.parse(responseText) as T);
      else reject(apiErrorOf(status, headers, responseText));
    });
    request.onerror = settle(() => reject(unreachable(undefined)));
    request.onabort = settle(() => reject(new DOMException('The upload was given up', 'AbortError')));
    signal.addEventListener('abort', stop);
    if (signal.aborted) reject(new DOMException('The upload was given up', 'AbortError'));
    else request.send(body);
  });
}
