import { apiErrorOf, hasCode, unreachable } from './api-error.ts';
import type { ApiClient } from './client.ts';

export interface UploadOptions {
  /** The URL, with the base path. */
  readonly url: string;
  readonly body: Blob;
  readonly contentType: string;
  /** Called with the number of bytes sent. */
  readonly onProgress: (sentBytes: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Sends bytes with `PUT` and reports the progress, which `fetch` can't (https://github.com/whatwg/fetch/issues/607).
 *
 * @throws ApiError the server's error response, or that the server is unreachable
 * @throws DOMException `AbortError` when the signal aborts it
 */
export async function upload<T>(api: ApiClient, options: UploadOptions): Promise<T> {
  try {
    return await send<T>(await api.accessToken(), options);
  } catch (error) {
    // A token may end early although the session continues. Retry once with another one.
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
    request.onabort = settle(() => reject(new DOMException('The upload was aborted', 'AbortError')));
    signal.addEventListener('abort', stop);
    if (signal.aborted) reject(new DOMException('The upload was aborted', 'AbortError'));
    else request.send(body);
  });
}
