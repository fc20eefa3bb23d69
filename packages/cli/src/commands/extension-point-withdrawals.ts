import { withdrawal as withdrawalSchema } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withConfirmation, withExtensionPoint, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import type { Io } from '../io.ts';
import { showList } from '../listing.ts';
import { resolveExtensionPoint } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { formatTime } from '../text.ts';

interface Options {
  readonly extensionPoint?: string;
}

/** Adds `tenon extension-point withdrawals` and `end-withdrawal`. */
export function addWithdrawalCommands(group: Command, io: Io): void {
  group
    .command('withdrawals')
    .description('list the contents of deleted plugins that stay yanked, rejected, or blocked')
    .use(withExtensionPoint, withServer)
    .examples('tenon extension-point withdrawals')
    .action(calling(io, listWithdrawals));

  group
    .command('end-withdrawal')
    .argument('<user>', 'the publisher, usr_…')
    .argument('<content-address>', 'the content address')
    .description('let a publisher publish a withdrawn content again')
    .use(withConfirmation, withExtensionPoint, withServer)
    .examples('tenon extension-point end-withdrawal usr_01j29hyr4… 47DEQpj8HBSa-_TImW-5JC…')
    .action(calling(io, endWithdrawal));
}

async function listWithdrawals(session: Session, options: Options): Promise<void> {
  const id = await resolveExtensionPoint(session, options.extensionPoint);
  await showList(session, {}, path`/api/v1/extension-points/${id}/withdrawals`, withdrawalSchema, {
    headings: ['CONTENT', 'PUBLISHER', 'ID', 'PLUGIN', 'STATE', 'WITHDRAWN', 'REASON'],
    row: ({ contentAddress, user, pluginName, state, withdrawnAt, reason }) => [
      contentAddress,
      user.name,
      user.id,
      pluginName,
      state,
      formatTime(withdrawnAt),
      reason ?? '',
    ],
    whenEmpty: 'Deleted plugins have left nothing withdrawn.',
  });
}

async function endWithdrawal(
  session: Session,
  options: Options & { readonly yes?: boolean },
  user: string,
  contentAddress: string,
): Promise<void> {
  const { api, io, out } = session;
  const id = await resolveExtensionPoint(session, options.extensionPoint);
  await confirm(io, `${user} can publish the bytes ${contentAddress} again.`, options);
  await api.remove(path`/api/v1/extension-points/${id}/withdrawals/${user}/${contentAddress}`);
  out.result({ ended: contentAddress }, () => out.note(`${user} can publish ${contentAddress} again.`));
}
