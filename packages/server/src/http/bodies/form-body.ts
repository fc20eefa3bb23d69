import { HttpError } from '../http-error.ts';
import type { BodyReader } from './body-reader.ts';
import { readBytes } from './read-bytes.ts';

const maxFormBytes = 16 * 1024;

/** A page's form as browsers send it: the first value of each field. */
export const formBody: BodyReader<URLSearchParams> = {
  async read(source) {
    if (source.mediaType !== 'application/x-www-form-urlencoded') {
      throw new HttpError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.', {
        accept: 'application/x-www-form-urlencoded',
      });
    }
    return new URLSearchParams((await readBytes(source, maxFormBytes, 'The form')).toString('utf8'));
  },
  doc: {
    required: true,
    content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } },
    errors: ['payload_too_large', 'request_timeout', 'unsupported_media_type'],
  },
};
