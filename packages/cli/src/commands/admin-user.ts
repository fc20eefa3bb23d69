import { type Context, findUser } from '@tenon/server';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { printable } from '../text.ts';

/** The id of the user whom an argument names, by an id or by the e-mail address that they sign in with. @throws CliError `not_found` */
export async function demandUser(context: Context, named: string) {
  const user = await findUser(context.store.read, named);
  if (user !== undefined) return user.id;
  throw new CliError('not_found', `There is no user ${printable(named)} on this server.`, {
    exitCode: exitCodes.notFound,
    hint: 'Make one with `tenon admin create-user <name>`, or name the right server with --data-dir or TENON_DATABASE_URL.',
  });
}
