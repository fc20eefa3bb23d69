import { accountDeletion } from '@tenon/protocol';
import { jsonBody } from '../http/bodies/json-body.ts';
import { type Route, routeTagged } from '../http/route.ts';
import { deleteAccount } from './delete-account.ts';

const route = routeTagged('Account');

export const accountDeletionRoutes: readonly Route[] = [
  route('POST', '/api/v1/me/deletion', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    body: jsonBody(accountDeletion, { password: 'magnolia tugboat 17 linen' }),
    id: 'deleteAccount',
    summary: 'Delete your account, immediately',
    description:
      'Also deletes your sessions, tokens, keys, memberships, guests, and plugins with their bindings. 409 while you are the only owner of applications; `detail` names these.',
    responses: { 204: { description: 'deleted' } },
    errors: ['step_up_required', 'invalid_credentials', 'conflict', 'unavailable'],
    handle: ({ deps }, { auth, body }) => deleteAccount(deps, auth.actor, body.password),
  }),
];
