import {
  noProvenancePolicy,
  type ProvenancePolicy,
  type ProvenancePolicyInput,
  type ProvenanceSource,
} from '@tenon/protocol';
import { invalidField } from '../http/domain-errors.ts';

/** Where a module comes from: verified claims of a CI job. Each value has all its accepted spellings. */
export interface VerifiedSource {
  readonly issuer: string;
  readonly repositories: readonly string[];
  readonly workflows: readonly string[];
}

/**
 * Applies the given fields to a policy. An absent field keeps its value.
 *
 * @throws DomainError `invalid_field` for `require` without a source, and for a source that anyone could imitate
 */
export function changeProvenancePolicy(
  input: ProvenancePolicyInput | undefined,
  present: ProvenancePolicy = noProvenancePolicy,
): ProvenancePolicy {
  if (input === undefined) return present;
  const policy = { mode: input.mode ?? present.mode, sources: input.sources ?? present.sources };
  if (policy.mode === 'require' && policy.sources.length === 0) {
    throw invalidField('/provenance/sources', 'must have at least one source while the mode is "require"');
  }
  for (const [index, source] of policy.sources.entries()) requireUnambiguous(source, `/provenance/sources/${index}`);
  return policy;
}

/** The same `owner/name` exists at every host of repositories, so a source needs the host, or the issuer that implies it. */
function requireUnambiguous({ issuer, repository, workflow }: ProvenanceSource, pointer: string): void {
  if (issuer === undefined && repository === undefined && workflow === undefined) {
    throw invalidField(pointer, 'must have an issuer, a repository, or a workflow');
  }
  if (issuer !== undefined && !/^(https?:\/\/[^/*]+|[^/*:]+)(\/|$)/.test(issuer)) {
    throw invalidField(`${pointer}/issuer`, 'must have a host without *');
  }
  for (const [name, pattern] of Object.entries({ repository, workflow })) {
    if (pattern === undefined || issuer !== undefined || /^https:\/\/[^/*]+\//.test(pattern)) continue;
    throw invalidField(`${pointer}/${name}`, 'must be a URL such as https://github.com/owner/name, or have an issuer');
  }
}

/** Whether a change lets modules pass that the policy refused before. */
export function relaxesPolicy(before: ProvenancePolicy, after: ProvenancePolicy): boolean {
  if (before.mode !== 'require') return false;
  const known = new Set(before.sources.map(describeSource));
  return after.mode !== 'require' || after.sources.some((source) => !known.has(describeSource(source)));
}

/** Returns a source as text, for messages. */
export function describeSource({ issuer, repository, workflow }: ProvenanceSource): string {
  const fields = Object.entries({ issuer, repository, workflow }).filter(([, pattern]) => pattern !== undefined);
  return fields.map(([name, pattern]) => `${name} ${pattern}`).join(', ');
}

/** Whether a policy accepts a source. */
export function acceptsSource({ sources }: ProvenancePolicy, source: VerifiedSource): boolean {
  return sources.some(
    ({ issuer, repository, workflow }) =>
      matchesAny(issuer, [source.issuer]) &&
      matchesAny(repository, source.repositories) &&
      matchesAny(workflow, source.workflows),
  );
}

function matchesAny(pattern: string | undefined, texts: readonly string[]): boolean {
  return pattern === undefined || texts.some((text) => matchesPattern(pattern, text));
}

/** Whether a text matches a pattern, in which `*` stands for any characters. It takes linear time per `*`. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
