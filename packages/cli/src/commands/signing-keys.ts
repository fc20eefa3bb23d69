import { signingKeys } from '@tenon/protocol';
import { createApi } from '../api.ts';
import { type Command, withJson, withServerChoice } from '../command.ts';
import { findConnection } from '../connection.ts';
import { parseTimeout } from '../duration.ts';
import type { Io } from '../io.ts';
import { createReporter } from '../output.ts';
import { openProject } from '../project/plugin-session.ts';
import { signingKeysPath } from '../provenance/keys.ts';
import { type CommonOptions, timeoutMs } from '../session.ts';
import { formatTime } from '../text.ts';

export function addSigningKeysCommand(program: Command, io: Io): void {
  program
    .command('signing-keys')
    .description('show the keys with which the server signs publish attestations')
    .use(withJson, withServerChoice)
    .option('--profile <profile>', 'the login whose server to use (default: TENON_PROFILE, else the current one)')
    .option('--timeout <duration>', 'fail after this long without network activity (default: 60s)', parseTimeout)
    .examples('tenon signing-keys', 'tenon signing-keys --json > keys.json')
    .addHelpText('after', "Compare the key ids with those that the server's operators give you before you pin them.")
    .action((options: CommonOptions) => showSigningKeys(io, options));
}

async function showSigningKeys(io: Io, options: CommonOptions): Promise<void> {
  const out = createReporter(io, options.json === true);
  const project = await openProject(io, {});
  const { url, foundIn } = findConnection(options, { ...io, warn: out.warn, projectServer: project?.settings.server });
  await io.interruptible(async (signal) => {
    const api = createApi({ url, foundIn, fetch: io.fetch, timeoutMs: timeoutMs(options), signal });
    const found = await api.get(signingKeysPath, signingKeys);
    out.result(found, () =>
      out.table(
        ['KEY ID (SHA-256)', 'ALGORITHM', 'SIGNS FROM', 'UNTIL'],
        found.keys.map(({ keyId, algorithm, validFrom, validUntil }) => [
          keyId,
          algorithm,
          formatTime(validFrom),
          validUntil === null ? '-' : formatTime(validUntil),
        ]),
        'The server has no signing key.',
      ),
    );
  });
}
