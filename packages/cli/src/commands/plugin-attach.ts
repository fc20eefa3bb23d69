import { attestation as attestationSchema } from '@tenon/protocol';
import type { Command } from '../command.ts';
import { CliError } from '../errors.ts';
import { readInput } from '../files.ts';
import type { Io } from '../io.ts';
import { findPlugin, type PluginChoice } from '../project/plugin-reference.ts';
import { callingForPlugin, type PluginSession } from '../project/plugin-session.ts';
import { printable } from '../text.ts';
import { aboutVersion, type VersionReference } from './plugin-versions.ts';

/** Adds `attach`. */
export function addAttachCommand(group: Command, io: Io): void {
  aboutVersion(
    group
      .command('attach')
      .requiredOption('--file <file>', 'a Sigstore bundle, or a CycloneDX document; "-" reads stdin')
      .description('attach provenance or an SBOM to a version of your plugin'),
  )
    .examples('tenon plugin attach greet@3 --file bundle.json', 'tenon plugin attach @3 --file bom.json --json')
    .addHelpText('after', `The exit code is 1 if the document is attached, and its verification failed.`)
    .action(callingForPlugin(io, attach));
}

async function attach(
  session: PluginSession,
  options: PluginChoice & { file: string },
  { plugin, number }: VersionReference,
): Promise<void> {
  const { api, io, out } = session;
  const place = await findPlugin(session, options, plugin, 'publisher');
  const bytes = await readInput(io, options.file, 'the document');
  const upload = { bytes, contentType: 'application/json', onSent: () => {} };
  const target = `${place.path}/versions/${number}/attestations`;
  const { bundle: _, ...attached } = await api.upload(target, upload, attestationSchema, 'POST');
  out.result(attached, () => out.write(`${attached.id}\n`));
  if (attached.state === 'failed') {
    throw new CliError('attestation_failed', `Attached, but it failed: ${printable(attached.detail ?? '')}.`);
  }
  out.note(`Attached ${attached.kind === 'sbom' ? 'the SBOM' : 'the provenance'}: verified.`);
}
