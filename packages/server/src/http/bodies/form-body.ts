import { HttpError } from '../http-error.ts';
import type { BodySource } from './body-reader.ts';
import { readBytes } from './read-bytes.ts';

const maxFormBytes = 16 * 1024;

/** @throws HttpError `unsupported_media_type`, and what reading a body throws */
export async function readForm(source: BodySource): Promise<URLSearchParams> {
  if (source.mediaType !== 'application/x-www-form-urlencoded') {
    throw new HttpError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.', {
      accept: 'application/x-www-form-urlencoded',
    });
  }
  return new URLSearchParams((await readBytes(source, maxFormBytes, 'The form')).toString('utf8'));
}
