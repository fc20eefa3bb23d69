import { DomainError } from '../../domain/errors.ts';
import { HttpError } from '../http-error.ts';
import type { BodySource } from './body-reader.ts';
import { parseMediaType, parseParameters } from './media-type.ts';
import { readBytes, tooLarge } from './read-bytes.ts';

/*
 * multipart/form-data, RFC 7578 over RFC 2046 §5.1. A body is read whole and then taken apart: what is made of it is needed
 * whole, and a parser that has all bytes before it can tell for sure whether the last delimiter is there.
 */

/** One part of a form. Whether it came with a file name or a content type makes no difference here. */
export interface FormPart {
  readonly name: string;
  /** A view of the body's bytes. */
  readonly bytes: Uint8Array;
}

/** What the parts' own header fields and delimiters may add to a body. */
const maxOverheadBytes = 64 * 1024;
const maxPartHeaderBytes = 8 * 1024;

/** The fields that a form may have, by name. `largest` is the most bytes that its content may have. */
export type FormFields = Readonly<Record<string, { readonly largest: number; readonly what: string }>>;

/**
 * Reads a form. A field that isn't known is passed over, but counts as a part.
 *
 * @throws HttpError `unsupported_media_type`, `malformed_multipart`, `payload_too_large`, and those of {@link readBytes}
 */
export async function readForm(source: BodySource, fields: FormFields): Promise<ReadonlyMap<string, Uint8Array>> {
  const boundary = boundaryOf(source.message.headers['content-type'] ?? '');
  const largest = Object.values(fields).reduce((sum, field) => sum + field.largest, maxOverheadBytes);
  const body = await readBytes(source, largest, 'A multipart body here');
  const found = new Map<string, Uint8Array>();
  for (const { name, bytes } of parseMultipart(body, boundary, source.limits.maxMultipartParts)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) continue;
    if (found.has(name)) throw malformed(`the field "${name}" is there twice`);
    if (bytes.length > field.largest) throw tooLarge(field.what, field.largest);
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
  if (boundary === undefined) throw malformed('the content type names no boundary');
  if (!/^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/.test(boundary)) {
    throw malformed('the boundary is not 1 to 70 of the characters that it may have');
  }
  return boundary;
}

/**
 * Takes a multipart body apart.
 *
 * @throws DomainError `malformed_multipart`; HttpError `payload_too_large` for too many parts
 */
export function parseMultipart(body: Buffer, boundary: string, maxParts: number): FormPart[] {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const parts: FormPart[] = [];
  // The first delimiter may stand at the very start, where no line break precedes it.
  const isFirstAtStart = body.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2));
  let at = isFirstAtStart ? delimiter.length - 2 : afterDelimiter(body, delimiter, 0);
  while (!isClosing(body, at)) {
    if (parts.length === maxParts) {
      throw new HttpError('payload_too_large', `A multipart body may have ${maxParts} parts at the most.`);
    }
    const { name, contentStart } = readPartHeader(body, endOfDelimiterLine(body, at));
    // A part without content: the line break that ends its header belongs to the delimiter.
    const next = afterDelimiter(body, delimiter, contentStart - 2);
    parts.push({ name, bytes: body.subarray(contentStart, Math.max(contentStart, next - delimiter.length)) });
    at = next;
  }
  return parts;
}

function afterDelimiter(body: Buffer, delimiter: Buffer, from: number): number {
  const found = body.indexOf(delimiter, from);
  if (found === -1) throw malformed('it ends without the closing delimiter, so part of it may be missing');
  return found + delimiter.length;
}

function isClosing(body: Buffer, at: number): boolean {
  return body[at] === 0x2d && body[at + 1] === 0x2d;
}

function endOfDelimiterLine(body: Buffer, start: number): number {
  let at = start;
  while (body[at] === 0x20 || body[at] === 0x09) at++; // transport padding
  if (body[at] !== 0x0d || body[at + 1] !== 0x0a) throw malformed('a delimiter is not followed by a line break');
  return at + 2;
}

function readPartHeader(body: Buffer, start: number): { name: string; contentStart: number } {
  const header = body.subarray(start, start + maxPartHeaderBytes);
  const length = header.indexOf('\r\n\r\n');
  if (length === -1) throw malformed(`a part's header fields do not end within ${maxPartHeaderBytes} bytes`);
  let name: string | undefined;
  for (const line of header.toString('utf8', 0, length).split('\r\n')) {
    const [field = '', value = ''] = splitOnce(line, ':');
    switch (field.toLowerCase()) {
      case 'content-disposition':
        name = nameOf(value.trim());
        break;
      case 'content-transfer-encoding':
        // RFC 7578 §4.7 does away with it; what changes no bytes is harmless.
        if (!/^(7bit|8bit|binary)$/i.test(value.trim())) throw malformed('a part has a content-transfer-encoding');
    }
  }
  if (name === undefined) throw malformed('a part has no name');
  return { name, contentStart: start + length + 4 };
}

function nameOf(disposition: string): string | undefined {
  const [type = ''] = splitOnce(disposition, ';');
  if (type.trim().toLowerCase() !== 'form-data') return undefined;
  return parseParameters(disposition, type.length)?.get('name');
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function malformed(what: string): DomainError {
  return new DomainError('malformed_multipart', `The body can't be read as multipart/form-data: ${what}.`);
}
