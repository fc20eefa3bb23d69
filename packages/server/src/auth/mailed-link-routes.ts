import { Type } from '@tenon/protocol/type';
import { DomainError } from '../http/domain-errors.ts';
import { html } from '../http/pages/html.ts';
import { sendPage } from '../http/pages/layout.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { type Route, routeTagged } from '../http/route.ts';
import type { Services } from '../services.ts';
import { withCodeTries } from './code-attempts.ts';
import { confirmEmailChange } from './email-changes.ts';
import { unsubscribe, verifyEmail } from './mailed-links.ts';

/*
 * The pages of mailed links. They work without scripts and without a sign-in. Opening one changes nothing, because programs that check mails
 * open links too; the user presses a button. Mail programs send the same request as the button of `/unsubscribe`: RFC 8058.
 */

const route = routeTagged('Pages');

// Without a maximum length, so that a garbled link opens a page instead of an error document.
const query = Type.Object({ code: Type.Optional(Type.String({ description: 'the code of the mailed link' })) });
const page = { description: 'a page', contentType: 'text/html' };
const notValid = { description: 'a page: the code is unknown, used, or expired', contentType: 'text/html' };

interface LinkPage {
  readonly path: string;
  readonly title: string;
  readonly question: string;
  readonly button: string;
  readonly id: string;
  /** @param address the client's */
  readonly run: (services: Services, code: string, address: string) => Promise<string>;
}

const linkPages: readonly LinkPage[] = [
  {
    path: '/verify-email',
    title: 'Verify your e-mail address',
    question: 'Press the button to confirm that this mail reached you.',
    button: 'Verify',
    id: 'VerifyEmail',
    run: async ({ deps }, code, address) =>
      `${await verifyEmail(deps, code, address)} is verified. You can close this page.`,
  },
  {
    path: '/change-email',
    title: 'Change your e-mail address',
    question: 'Press the button to use the address of this mail for your account.',
    button: 'Use the address',
    id: 'ChangeEmail',
    run: async ({ deps }, code, address) =>
      `Your account uses ${await confirmEmailChange(deps, code, address)}. You can close this page.`,
  },
  {
    path: '/unsubscribe',
    title: 'Stop these notices',
    question: 'Press the button to get no more mails of this kind.',
    button: 'Stop',
    id: 'Unsubscribe',
    async run({ deps }, code, address) {
      await unsubscribe(deps, code, address);
      return 'You get no more mails of this kind. You can turn them on again on the page of your account.';
    },
  },
];

export const mailedLinkRoutes: readonly Route[] = linkPages.flatMap((one) => [
  route('GET', one.path, {
    access: { kind: 'public' },
    page: true,
    query,
    id: `show${one.id}`,
    summary: `The page of a mailed link: ${one.title}`,
    responses: { 200: page },
    handle: (_, __, reply) => {
      const { title, question, button } = one;
      // The form's URL is the page's, with the code.
      const form = html`<h1>${title}</h1>
<p>${question}</p>
<form method="post"><button>${button}</button></form>`;
      return sendPage(reply, 200, { title, body: form, hasForm: true });
    },
  }),
  route('POST', one.path, {
    access: { kind: 'public' },
    page: true,
    query,
    // No body: mail programs send one of either form type, which says nothing that the code doesn't (RFC 8058).
    id: `post${one.id}`,
    summary: `The button of the page of a mailed link: ${one.title}`,
    responses: { 200: page, 404: notValid, 429: { ...notValid, description: 'a page: too many unknown codes' } },
    handle: (services, { request, query: { code } }, reply) => respond(services, request, reply, one, code ?? ''),
  }),
]);

async function respond(services: Services, request: Request, reply: Reply, of: LinkPage, code: string) {
  try {
    const text = await withCodeTries(services, request, () =>
      of.run(services, code, services.clients.of(request.message)),
    );
    return sendPage(reply, 200, { title: of.title, body: html`<h1>Done</h1>\n<p>${text}</p>` });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const isLimited = error.code === 'rate_limited';
    const text = isLimited ? error.message : 'The link is not valid, or has expired.';
    const body = html`<h1>This did not work</h1>\n<p>${text}</p>`;
    return sendPage(reply, isLimited ? 429 : 404, { title: of.title, body });
  }
}
