import { type MirrorSettings, mirrorFile } from '../config/mirror-file.ts';

/** How long the token of the file is used before the file is read again, in milliseconds. */
const rereadMs = 500;

/** Returns a function that reads the token of the file, if the file is still valid. */
export function createTokenReader(settings: MirrorSettings): () => string {
  let [token, readAtMs] = [settings.token, performance.now()];
  return () => {
    if (performance.now() - readAtMs < rereadMs) return token;
    readAtMs = performance.now();
    try {
      const found = mirrorFile(settings.path);
      if (found.source === settings.source) token = found.token;
    } catch {
      // The last token stays in use while the file is being replaced.
    }
    return token;
  };
}
