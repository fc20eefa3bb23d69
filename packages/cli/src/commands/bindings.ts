import { type BindingList, bindingList } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withExtensionPoint, withServer } from '../command.ts';
import type { Io } from '../io.ts';
import { resolveExtensionPoint } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { formatTime } from '../text.ts';
import { addGenerateCommand } from './bindings-generate.ts';

export function addBindingsCommand(program: Command, io: Io): void {
  const bindings = program
    .command('bindings')
    .argument('<guest-key>', 'what the application calls the guest; to list them: tenon guest list')
    .description('list the plugins bound to a guest key, which a host loads')
    .use(withExtensionPoint, withServer)
    .examples(
      'tenon bindings acme',
      'tenon bindings customers/42 --extension-point Greetings',
      "tenon bindings acme --json | jq -r '.greet.contentAddress'",
    )
    .action(calling(io, listBindings));
  addGenerateCommand(bindings, io);
}

async function listBindings(
  session: Session,
  options: { readonly extensionPoint?: string },
  guestKey: string,
): Promise<void> {
  const { api, out } = session;
  const extensionPoint = await resolveExtensionPoint(session, options.extensionPoint);
  const listPath = path`/api/v1/extension-points/${extensionPoint}/bindings/${guestKey}`;
  const bindings: BindingList = await api.get(listPath, bindingList);
  out.result(bindings, () =>
    out.table(
      ['NAME', 'CONTENT ADDRESS', 'UPDATED'],
      Object.entries(bindings).map(([name, binding]) => [name, binding.contentAddress, formatTime(binding.updatedAt)]),
      'No plugin is bound to this guest key. A guest binds one by publishing it: tenon plugin push <file>',
    ),
  );
}
