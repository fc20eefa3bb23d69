import { randomUUID } from 'node:crypto';

/** Returns a multipart/form-data body (RFC 7578), and its content type. */
export function formBody(fields: ReadonlyMap<string, Uint8Array>): {
  readonly bytes: Uint8Array;
  readonly contentType: string;
} {
  const boundary = `tenon-${randomUUID()}`;
  const parts = [...fields].flatMap(([name, content]) => [
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ]);
  const bytes = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
  return { bytes, contentType: `multipart/form-data; boundary=${boundary}` };
}
