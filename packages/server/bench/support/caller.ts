/** Calls the API. A body of bytes is a module. @throws Error unless the status is 2xx */
export type Call = (method: string, path: string, body?: object | Uint8Array<ArrayBuffer>) => Promise<unknown>;

export function caller(port: number, token: string): Call {
  return async (method, path, body) => {
    const isModule = body instanceof Uint8Array;
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': isModule ? 'application/wasm' : 'application/json' },
      body: isModule ? body : body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}
