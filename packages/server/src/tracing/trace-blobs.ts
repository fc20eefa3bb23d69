import type { BlobStore } from '../domain/ports.ts';
import { errorTypeOf } from './error-type.ts';
import type { SpanOptions, Tracer } from './tracer.ts';

/** The blob store, with spans of what requests that are traced ask of it. Of a read one is for the opening, and one for the bytes. */
export function traceBlobs(blobs: BlobStore, tracer: Tracer, kind: 'folder' | 's3'): BlobStore {
  const options: SpanOptions = { kind: 'client', attributes: { 'tenon.blobs.kind': kind } };

  async function* read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const span = tracer.begin('blobs.read', options);
    let bytes = 0;
    try {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      span?.fail(errorTypeOf(error));
      throw error;
    } finally {
      span?.set('tenon.blobs.bytes', bytes);
      span?.end();
    }
  }

  return {
    ...blobs,
    put(key, bytes) {
      const sized = { ...options, attributes: { ...options.attributes, 'tenon.blobs.bytes': bytes.length } };
      return tracer.within('blobs.put', sized, () => blobs.put(key, bytes), errorTypeOf);
    },
    size: (key) => tracer.within('blobs.size', options, () => blobs.size(key), errorTypeOf),
    stat: (key) => tracer.within('blobs.size', options, () => blobs.stat(key), errorTypeOf),
    async open(...question) {
      const chunks = await tracer.within('blobs.open', options, () => blobs.open(...question), errorTypeOf);
      return chunks && (tracer.isTracing() ? read(chunks) : chunks);
    },
    delete: (key) => tracer.within('blobs.delete', options, () => blobs.delete(key), errorTypeOf),
  };
}
