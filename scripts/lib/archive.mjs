// npm's package archives: https://docs.npmjs.com/cli/commands/npm-pack. The same files make the same bytes, whenever and wherever they
// are packed, on the same version of Node.js: sorted paths, one fixed time, two modes, no owner.
import { gzipSync } from 'node:zlib';

/** The time that npm gives to files in its archives, in seconds: 1985-10-26. */
const fixedTime = 499162500;

const blockBytes = 512;

/**
 * @param {ReadonlyMap<string, string | Uint8Array>} files by their paths in the package, with `/`
 * @param {ReadonlySet<string>} [executables] paths of files to run
 */
export function packArchive(files, executables = new Set()) {
  const blocks = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, content]) => {
      const bytes = Buffer.from(content);
      const padding = Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes);
      return [header(`package/${path}`, bytes.length, executables.has(path) ? 0o755 : 0o644), bytes, padding];
    });
  const archive = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]), { level: 9 });
  archive[9] = 255; // the operating system: unknown (RFC 1952 §2.3.1)
  return archive;
}

/**
 * A file's header in the format ustar: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06
 *
 * @param {string} path
 * @param {number} size
 * @param {number} mode
 */
function header(path, size, mode) {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for an archive`);
  const block = Buffer.alloc(blockBytes);
  block.write(path, 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108); // the owner's ids
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(fixedTime, 11), 136);
  block.fill(' ', 148, 156); // the checksum counts itself as spaces
  block.write('0', 156); // an ordinary file
  block.write('ustar\u000000', 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${octal(checksum, 6)}\0 `, 148);
  return block;
}

/**
 * @param {number} value
 * @param {number} digits
 */
function octal(value, digits) {
  return value.toString(8).padStart(digits, '0');
}
