import { countOf, formatDuration } from '../format.ts';
import type { Span } from '../span.ts';
import { visible } from '../unsafe-characters.ts';
import { type FlameGraphData, type FlameGraphOptions, flameGraphData } from './data.ts';
import { pageStyles } from './page-styles.ts';
import { pageStylesHash, viewerScript, viewerScriptHash } from './viewer-bundle.ts';

/**
 * Returns a self-contained page that shows spans as a flame graph. Its Content-Security-Policy, with the digests of its script and
 * style, forbids loading anything.
 *
 * Names in a module are untrusted. The page contains them as JSON without a `<`, and shows them only as text.
 *
 * @param spans finished spans of one or more traces, in any order
 */
export function flameGraphHtml(spans: readonly Span[], options: FlameGraphOptions = {}): string {
  return flameGraphPage(flameGraphData(spans, options));
}

/** The same of what {@link flameGraphData} has made, for who has handed the spans out of sight already. */
export function flameGraphPage(data: FlameGraphData): string {
  const title = escaped(visible(data.title));
  const policy = [
    "default-src 'none'",
    `script-src '${viewerScriptHash}'`,
    `style-src '${pageStylesHash}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Tenon">
<title>${title} – flame graph</title>
<style>${pageStyles}</style>
</head>
<body>
<header><h1>${title}</h1><p>${escaped(subtitleOf(data))}</p></header>
<main id="flame-graph"><p>This page draws itself with JavaScript, which is off here.</p></main>
<script type="application/json" id="trace">${embedded(data)}</script>
<script>${viewerScript}</script>
</body>
</html>
`;
}

function subtitleOf(data: FlameGraphData): string {
  if (data.name.length === 0) return 'No span.';
  const whole = data.duration.reduce((sum, duration, span) => (data.parent[span] === -1 ? sum + duration : sum), 0);
  const at = new Date(data.startTimeMs);
  const time = Number.isNaN(at.getTime()) ? '' : ` · ${at.toISOString().replace('T', ' ').slice(0, 19)} UTC`;
  return `${formatDuration(whole)} · ${countOf(data.name.length, 'span')}${time}`;
}

/**
 * JSON that can stand in a `<script>`: without `<` nothing in it can end the element or begin a comment
 * (https://html.spec.whatwg.org/#restrictions-for-contents-of-script-elements).
 */
function embedded(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
