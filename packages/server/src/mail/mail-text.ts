import { Html, html } from '../http/pages/html.ts';

/** The text of a mail, of which both its forms are made. Texts may be untrusted. */
export interface MailText {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** What the mail asks for. */
  readonly action?: { readonly label: string; readonly url: string };
  /** After the action. */
  readonly notes?: readonly string[];
  /** A link that ends such notices, without a sign-in. */
  readonly unsubscribeUrl?: string;
}

/** Line breaks, other control characters, and characters that change the direction of text. */
const unsafe = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\s]+/gu;

/** Makes an untrusted name safe for a line of text and a header field. */
export function oneLine(text: string): string {
  return text.replace(unsafe, ' ').trim();
}

export function toPlainText({ paragraphs, action, notes = [], unsubscribeUrl }: MailText): string {
  const parts = [...paragraphs.map(oneLine)];
  if (action !== undefined) parts.push(`${action.label}:\n${action.url}`);
  parts.push(...notes.map(oneLine));
  if (unsubscribeUrl !== undefined) parts.push(`Stop these notices:\n${unsubscribeUrl}`);
  return `${parts.join('\n\n')}\n`;
}

/** No images, no colours: mail programs choose them, light or dark. */
export function toHtml({ subject, paragraphs, action, notes = [], unsubscribeUrl }: MailText): string {
  const paragraph = (text: string) => html`<p>${oneLine(text)}</p>\n`;
  const link = ({ label, url }: { readonly label: string; readonly url: string }) =>
    html`<p><a href="${url}">${label}</a></p>\n`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${oneLine(subject)}</title>
</head>
<body style="font-family: sans-serif; font-size: 16px; line-height: 1.5">
${paragraphs.map(paragraph)}${action === undefined ? new Html('') : link(action)}${notes.map(paragraph)}${
  unsubscribeUrl === undefined ? new Html('') : link({ label: 'Stop these notices', url: unsubscribeUrl })
}</body>
</html>
`.text;
}
