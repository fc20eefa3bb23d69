import { apiKeyCreated, apiKeyInfo } from '@tenon/protocol';
import { Option } from 'commander';
import { path } from '../api.ts';
import { type Command, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { parseLifetimeDays } from '../duration.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';

export function addApiKeyCommands(program: Command, io: Io): void {
  const group = program.command('api-key').description('API keys for the instrumentation endpoint');

  group
    .command('list')
    .description('list your API keys, without their secrets')
    .use(withLimit, withServer)
    .examples('tenon api-key list')
    .action(calling(io, listApiKeys));

  group
    .command('create')
    .argument('<name>', 'a name to recognize it by')
    .addOption(new Option('--expires-in <duration>', 'the lifetime (default: 90d)').argParser(parseLifetimeDays))
    .description('create an API key, which ends with the token that creates it')
    .use(withServer)
    .examples('tenon api-key create "build machine"')
    .action(calling(io, createApiKey));

  group
    .command('revoke')
    .argument('<api-key>', 'its id, key_…')
    .description('revoke an API key: it stops working at once')
    .use(withConfirmation, withServer)
    .examples('tenon api-key revoke key_01j29hxk3…')
    .action(calling(io, revokeApiKey));
}

async function listApiKeys(session: Session, options: ListOptions): Promise<void> {
  await showList(session, options, '/api/v1/api-keys', apiKeyInfo, {
    headings: ['NAME', 'ID', 'CREATED', 'EXPIRES', 'LAST USED', 'FROM'],
    row: (key) => [
      key.name,
      key.id,
      formatTime(key.createdAt),
      formatTime(key.expiresAt),
      formatTime(key.lastUsedAt),
      key.lastUsedAddress ?? '-',
    ],
    whenEmpty: 'You have no API keys. Make one with `tenon api-key create <name>`.',
  });
}

async function createApiKey(
  { api, out }: Session,
  { expiresIn: expiresInDays }: { readonly expiresIn?: number },
  name: string,
): Promise<void> {
  const made = await api.send('POST', '/api/v1/api-keys', { name, expiresInDays }, apiKeyCreated);
  out.note(`Created ${made.id} (until ${formatTime(made.expiresAt)}). The key is shown only once:`);
  out.result(made, () => out.write(`${printable(made.apiKey)}\n`));
}

async function revokeApiKey({ api, io, out }: Session, options: { yes?: boolean }, id: string): Promise<void> {
  await confirm(io, `The API key ${id} will stop working at once.`, options);
  await api.remove(path`/api/v1/api-keys/${id}`);
  out.result({ revoked: id }, () => out.note(`Revoked ${id}.`));
}
