import type { CiClaims, TrustProvider, TrustRuleClaims } from '@tenon/protocol';

/** The verified claims of an identity token. */
export type IdTokenClaims = Readonly<Record<string, unknown>>;

/** A CI service. */
interface ProviderInfo {
  /** The issuer of the public service. */
  readonly issuer: string | undefined;
  /** How `sub` begins, up to the repository. Its jobs can't choose what follows up to the next colon. */
  readonly subjectPrefix: string;
}

/** The CI services with a template. `docs/how-to/publish-from-ci.md` describes them. */
export const trustProviders: Readonly<Record<TrustProvider, ProviderInfo>> = {
  github: { issuer: 'https://token.actions.githubusercontent.com', subjectPrefix: 'repo:' },
  gitlab: { issuer: 'https://gitlab.com', subjectPrefix: 'project_path:' },
  forgejo: { issuer: undefined, subjectPrefix: 'repo:' },
  generic: { issuer: undefined, subjectPrefix: '' },
};

/** The claims that name one repository or project. */
const pinningClaims = ['repository', 'repository_id', 'project_path', 'project_id'] as const;

/** The claims that the server checks in any case, or that differ between the jobs of a repository. */
export const reservedClaims: ReadonlySet<string> = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti']);

/**
 * Whether the claims of a rule pin a repository or a project. Otherwise all users of the CI service could publish. `sub` does if its first
 * two segments have no `*`, or if it has none at all: `repo:octo/median:*`.
 */
export function pinsProject(provider: TrustProvider, claims: TrustRuleClaims): boolean {
  if (provider !== 'generic' && pinningClaims.some((name) => claims[name] !== undefined)) return true;
  const { sub } = claims;
  if (sub === undefined || !sub.startsWith(trustProviders[provider].subjectPrefix)) return false;
  const wildcard = sub.split(':').findIndex((segment) => segment.includes('*'));
  return wildcard === -1 || wildcard >= 2;
}

/** Whether verified claims are those that a rule expects. Values of other types than text, integers and booleans match nothing. */
export function matchesClaims(expected: TrustRuleClaims, claims: IdTokenClaims): boolean {
  return Object.entries(expected).every(([name, value]) => {
    const actual = textOf(Object.hasOwn(claims, name) ? claims[name] : undefined);
    if (actual === undefined) return false;
    return name === 'sub' ? matchesSubject(value, actual) : actual === value;
  });
}

const maxSubjectLength = 1000;

/**
 * Whether a subject matches a pattern. Each `*` stands for any characters except `:`, which separates the parts of a subject, and which no
 * name of a branch can contain.
 */
export function matchesSubject(pattern: string, subject: string): boolean {
  if (subject.length > maxSubjectLength) return false;
  const [expected, actual] = [pattern.split(':'), subject.split(':')];
  return (
    expected.length === actual.length && expected.every((segment, at) => matchesSegment(segment, actual[at] ?? ''))
  );
}

/** Compares the texts between wildcards from left to right, each at its first occurrence. It never goes back. */
function matchesSegment(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  if (others.length === 0) return text === first;
  const last = others.pop() ?? '';
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

const maxStoredLength = 500;

/** Returns the text of a claim. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : undefined;
}

/** Returns what is stored about the CI job with the token that it gets. It has no names of persons. */
export function toCiClaims(provider: TrustProvider, claims: IdTokenClaims): CiClaims {
  const first = (...names: string[]): string | undefined =>
    names.map((name) => textOf(claims[name])).find((text) => text !== undefined && text !== '');
  const issuer = first('iss') ?? '';
  const repository = first('repository', 'project_path');
  const runId = first('run_id', 'pipeline_id');
  const found = {
    repository,
    repositoryId: first('repository_id', 'project_id'),
    workflowRef: first('job_workflow_ref', 'workflow_ref', 'ci_config_ref_uri'),
    environment: first('environment'),
    ref: first('ref'),
    sha: first('sha'),
    runId,
    runUrl: repository && runId && runUrl(provider, issuer, repository, runId),
  };
  const stored: Record<string, string> = {};
  for (const [name, text] of Object.entries(found)) if (text) stored[name] = text.slice(0, maxStoredLength);
  return { issuer, subject: (first('sub') ?? '').slice(0, maxStoredLength), ...stored };
}

function runUrl(provider: TrustProvider, issuer: string, repository: string, runId: string): string | undefined {
  const path = repository.split('/').map(encodeURIComponent).join('/');
  const id = encodeURIComponent(runId);
  if (provider === 'github' && issuer === trustProviders.github.issuer)
    return `https://github.com/${path}/actions/runs/${id}`;
  return provider === 'gitlab' ? `${issuer}/${path}/-/pipelines/${id}` : undefined;
}
