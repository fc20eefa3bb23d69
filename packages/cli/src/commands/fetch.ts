import { isContentAddress } from '@tenon/protocol';
import { type Download, path } from '../api.ts';
import { type Command, withServer } from '../command.ts';
import { readVerified } from '../download.ts';
import { usageError } from '../errors.ts';
import { assertBinaryOutput, standardStream, writeFileWhole } from '../files.ts';
import type { Io } from '../io.ts';
import { writeBytes } from '../output.ts';
import { calling, type Session } from '../session.ts';
import { formatSize } from '../text.ts';

export function addFetchCommand(program: Command, io: Io): void {
  program
    .command('fetch')
    .argument('<content-address>', 'the content address, from `tenon bindings`')
    .option('-o, --output <file>', 'the file to write; "-" is stdout', standardStream)
    .description('download a plugin, and verify its bytes against the content address')
    .use(withServer)
    .examples('tenon fetch cuHwRX6… -o greet.wasm', 'tenon fetch cuHwRX6… | wasm-tools print')
    .action(calling(io, fetchContent));
}

async function fetchContent(session: Session, { output }: { output: string }, address: string): Promise<void> {
  const { api, io, out } = session;
  if (!isContentAddress(address)) {
    throw usageError(
      `"${address}" is not a content address.`,
      'A content address has 43 characters; `tenon bindings` lists them.',
    );
  }
  if (out.isJson && output === standardStream) {
    throw usageError('The module and the JSON can not both go to stdout.', 'Name a file with -o.');
  }
  assertBinaryOutput(io, output);
  const download = await api.download(path`/api/v1/c/${address}`);
  const size =
    output === standardStream
      ? await toStdout(session, download, address)
      : await toFile(session, download, address, output);
  const where = output === standardStream ? 'stdout' : output;
  out.note(`Fetched ${formatSize(size)} to ${where}; the digest is right.`);
  if (out.isJson) out.result({ contentAddress: address, size, file: output }, () => {});
}

/** Stdout can't be taken back, so it gets the bytes when all of them are there and right. */
async function toStdout(session: Session, download: Download, address: string): Promise<number> {
  const chunks: Uint8Array[] = [];
  const size = await readVerified(session, download, address, (chunk) => void chunks.push(chunk));
  for (const chunk of chunks) await writeBytes(session.io.stdout, chunk);
  return size;
}

async function toFile(session: Session, download: Download, address: string, file: string): Promise<number> {
  let size = 0;
  await writeFileWhole(file, async (handle) => {
    size = await readVerified(session, download, address, (chunk) => handle.writeFile(chunk));
  });
  return size;
}
