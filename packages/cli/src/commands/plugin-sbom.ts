import { InstrumentError, listProducers } from '@tenon/instrument';
import { attestation, bomOfProducers } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { path } from '../api.ts';
import { type Command, withServer } from '../command.ts';
import { readVerified } from '../download.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readInput } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { findPlugin, type PluginChoice } from '../project/plugin-reference.ts';
import { callingForPlugin, type PluginSession, withProject } from '../project/plugin-session.ts';
import { addressOf } from '../provenance/address.ts';
import { readStatement } from '../provenance/statement.ts';
import { printable, printableJson } from '../text.ts';
import { findVersion } from './plugin-verify.ts';
import { optionalVersion } from './plugin-versions.ts';

interface SbomOptions extends PluginChoice {
  readonly file?: string;
  readonly json?: boolean;
}

export function addSbomCommand(group: Command, io: Io): void {
  const online = callingForPlugin(io, showSbom);
  group
    .command('sbom')
    .argument('[plugin@version]', "such as greet or greet@3, with the plugin's name or id (default: tenon.toml's)")
    .description('write the bill of materials of a version as CycloneDX: the attached one, else what the module says')
    .option('--file <module>', 'read this module, without a server')
    .use(withProject, withServer)
    .examples('tenon plugin sbom greet@3 > greet.cdx.json', 'tenon plugin sbom --file greet.wasm')
    .addHelpText(
      'after',
      "Without an attached one, it lists the languages, tools, and SDKs of the module's `producers` section, and no libraries.",
    )
    .action(async (...all: unknown[]) => {
      const [, options] = all as [string | undefined, SbomOptions];
      if (options.file === undefined) return online(...all);
      const bytes = await readInput(io, options.file, 'the module');
      writeDerived(createReporter(io, options.json === true), bytes, { name: options.file });
    });
}

async function showSbom(session: PluginSession, options: SbomOptions, named?: string): Promise<void> {
  const { api, out } = session;
  const { plugin, number } = optionalVersion(named);
  const place = await findPlugin(session, options, plugin, 'publisher');
  const version = await findVersion(session, place.path, { plugin: place.name, number });
  const { objects } = await api.get(
    `${place.path}/versions/${version.number}/attestations`,
    Type.Object({ objects: Type.Array(attestation) }),
  );
  const digest = Buffer.from(version.contentAddress, 'base64url').toString('hex');
  for (const { kind, state, detail, bundle } of objects.toReversed()) {
    const statement = kind === 'sbom' ? readStatement(bundle) : undefined;
    if (statement === undefined || !statement.digests.includes(digest)) continue;
    const isVerified = state === 'verified';
    if (!isVerified) out.warn(`The signature of the attached bill of materials failed: ${printable(detail ?? '')}`);
    else out.note(`Attached by the publisher. ${printable(detail ?? 'The server verified its signature.')}`);
    return out.write(`${printableJson(statement.predicate, 2)}\n`);
  }
  const chunks: Uint8Array[] = [];
  const download = await api.download(path`/api/v1/c/${version.contentAddress}`);
  await readVerified(session, download, version.contentAddress, (chunk) => void chunks.push(chunk));
  writeDerived(out, Buffer.concat(chunks), { name: place.name, version: String(version.number) });
}

function writeDerived(
  out: Reporter,
  bytes: Uint8Array,
  about: { readonly name: string; readonly version?: string },
): void {
  const producers = readProducers(bytes);
  if (producers.length === 0) {
    throw new CliError('not_found', 'No bill of materials is attached, and the module has no `producers` section.', {
      exitCode: exitCodes.notFound,
    });
  }
  out.note('Read from the `producers` section of the module: it names languages, tools, and SDKs, and no libraries.');
  const sha256 = Buffer.from(addressOf(bytes), 'base64url').toString('hex');
  out.write(`${printableJson(bomOfProducers({ ...about, sha256 }, producers), 2)}\n`);
}

function readProducers(bytes: Uint8Array) {
  try {
    return listProducers(bytes);
  } catch (error) {
    if (!(error instanceof InstrumentError)) throw error;
    throw new CliError(error.code, error.message, { exitCode: exitCodes.refused, cause: error });
  }
}
