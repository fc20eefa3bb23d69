import { DomainError } from '../domain-errors.ts';
import { HttpError } from '../http-error.ts';
import type { BodySource } from './body-reader.ts';
import { parseMediaType, parseParameters } from './media-type.ts';
import { readBytes, tooLarge } from './read-bytes.ts';

/*
 * multipart/form-data (RFC 7578, RFC 2046 §5.1). The parser works on the complete body: the parts are needed as a whole, and only
 * a complete body shows whether the closing delimiter is present.
 */

/** One part of a form. The parser ignores a part's file name and content type. */
export interface FormPart {
  readonly name: string;
  /** A view of the body's bytes. */
  readonly bytes: Uint8Array;
}

/** The error codes of routes that read a form. */
export const formErrors = [
  'malformed_multipart',
  'payload_too_large',
  'request_timeout',
  'unsupported_media_type',
  'invalid_field',
  'unavailable',
] as const;

/** The maximum size of all header fields and delimiters together. */
const maxOverheadBytes = 64 * 1024;
const maxPartHeaderBytes = 8 * 1024;

/** The known fields of a form by name. `what` names the field's content in error messages. */
type FormFields = Readonly<Record<string, { readonly maxBytes: number; readonly what: string }>>;

/**
 * Reads a form. Unknown fields are ignored, but count as parts.
 *
 * @throws HttpError `unsupported_media_type`, `malformed_multipart`, `payload_too_large`, and those of {@link readBytes}
 */
export async function readForm(source: BodySource, fields: FormFields): Promise<ReadonlyMap<string, Uint8Array>> {
  const boundary = boundaryOf(source.message.headers['content-type'] ?? '');
  const maxBodyBytes = Object.values(fields).reduce((sum, field) => sum + field.maxBytes, maxOverheadBytes);
  const body = await readBytes(source, maxBodyBytes, 'The multipart body');
  const found = new Map<string, Uint8Array>();
  for (const { name, bytes } of parseMultipart(body, boundary, source.limits.maxMultipartParts)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) continue;
    if (found.has(name)) throw malformed(`the field "${name}" must not be repeated`);
    if (bytes.length > field.maxBytes) throw tooLarge(field.what, field.maxBytes);
    found.set(name, bytes);
  }
  return found;
}

function boundaryOf(contentType: string): string {
  const mediaType = parseMediaType(contentType);
  if (mediaType?.type !== 'multipart/form-data') {
    throw new HttpError('unsupported_media_type', 'Send the body as multipart/form-data.', {
      accept: 'multipart/form-data',
    });
  }
  const boundary = mediaType.parameters.get('boundary');
  if (boundary === undefined) throw malformed('the content type must have a boundary');
  if (!/^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/.test(boundary)) {
    throw malformed('the boundary must be 1 to 70 characters of RFC 2046');
  }
  return boundary;
}

/**
 * Parses a multipart body.
 *
 * @throws DomainError `malformed_multipart`; HttpError `payload_too_large` for too many parts
 */
export function parseMultipart(body: Buffer, boundary: string, maxParts: number): FormPart[] {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const parts: FormPart[] = [];
  // A delimiter at the start of the body has no line break before it.
  const startsWithDelimiter = body.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2));
  let position = startsWithDelimiter ? delimiter.length - 2 : afterDelimiter(body, delimiter, 0);
  while (!isClosing(body, position)) {
    if (parts.length === maxParts) {
      throw new HttpError('payload_too_large', `The multipart body must have at most ${maxParts} parts.`);
    }
    const { name, contentStart } = readPartHeader(body, endOfDelimiterLine(body, position));
    // In a part without content, the line break at the end of the header is also the start of the delimiter.
    const next = afterDelimiter(body, delimiter, contentStart - 2);
    parts.push({ name, bytes: body.subarray(contentStart, Math.max(contentStart, next - delimiter.length)) });
    position = next;
  }
  return parts;
}

function afterDelimiter(body: Buffer, delimiter: Buffer, from: number): number {
  const found = body.indexOf(delimiter, from);
  if (found === -1) throw malformed('it ends without the closing delimiter, so it may be truncated');
  return found + delimiter.length;
}

function isClosing(body: Buffer, position: number): boolean {
  return body[position] === 0x2d && body[position + 1] === 0x2d;
}

function endOfDelimiterLine(body: Buffer, start: number): number {
  let end = start;
  while (body[end] === 0x20 || body[end] === 0x09) end++; // transport padding
  if (body[end] !== 0x0d || body[end + 1] !== 0x0a) throw malformed('a delimiter must be followed by a line break');
  return end + 2;
}

function readPartHeader(body: Buffer, start: number): { name: string; contentStart: number } {
  const header = body.subarray(start, start + maxPartHeaderBytes);
  const length = header.indexOf('\r\n\r\n');
  if (length === -1) throw malformed(`a part's header fields must end within ${maxPartHeaderBytes} bytes`);
  let name: string | undefined;
  for (const line of header.toString('utf8', 0, length).split('\r\n')) {
    const [field = '', value = ''] = splitOnce(line, ':');
    switch (field.toLowerCase()) {
      case 'content-disposition':
        name = nameOf(value.trim());
        break;
      case 'content-transfer-encoding':
        // Deprecated by RFC 7578 §4.7. Encodings that leave the bytes unchanged are harmless.
        if (!/^(7bit|8bit|binary)$/i.test(value.trim())) {
          throw malformed('a part must not have a content-transfer-encoding');
        }
    }
  }
  if (name === undefined) throw malformed('every part must have a name');
  return { name, contentStart: start + length + 4 };
}

function nameOf(disposition: string): string | undefined {
  const [type = ''] = splitOnce(disposition, ';');
  if (type.trim().toLowerCase() !== 'form-data') return undefined;
  return parseParameters(disposition, type.length)?.get('name');
}

function splitOnce(text: string, separator: string): [string, string?] {
  const index = text.indexOf(separator);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function malformed(reason: string): DomainError {
  return new DomainError('malformed_multipart', `The body is not valid multipart/form-data: ${reason}.`);
}
