import { type BindingList, bindingList } from '@tenon/protocol';
import type { Command } from 'commander';
import { path } from '../api.ts';
import { examples, withServer } from '../command.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { resolveExtensionPoint } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';

export function addBindingsCommand(program: Command, io: Io): void {
  withServer(
    program
      .command('bindings')
      .usage('[options] [extension-point] <guest-key>')
      .argument('[extension-point]', 'its id or name (default: TENON_EXTENSION_POINT_ID, else the only one)')
      .argument('[guest-key]', 'what the application calls the guest')
      .description('list what a host loads: the plugins bound to a guest key'),
  )
    .addHelpText(
      'after',
      examples(
        'tenon bindings acme',
        'tenon bindings Greetings customers/42',
        "tenon bindings ext_01j29hxk3… acme --json | jq -r '.greet.contentAddress'",
      ),
    )
    .action(calling(io, listBindings));
}

async function listBindings(session: Session, _: object, first?: string, second?: string): Promise<void> {
  const { api, out } = session;
  const guestKey = second ?? first;
  if (guestKey === undefined) throw usageError('Which guest key?', 'To list them: tenon guest list');
  const extensionPoint = await resolveExtensionPoint(session, second === undefined ? undefined : first);
  const listPath = path`/api/v1/extension-points/${extensionPoint}/bindings/${guestKey}`;
  const bindings: BindingList = await api.get(listPath, bindingList);
  out.result(bindings, () =>
    out.table(
      ['NAME', 'CONTENT ADDRESS', 'UPDATED'],
      Object.entries(bindings).map(([name, binding]) => [
        printable(name),
        binding.contentAddress,
        formatTime(binding.updatedAt),
      ]),
      'No plugin is bound to this guest key. A guest binds one by publishing it: tenon plugin push <file>',
    ),
  );
}
