import { type ContentAddress, type ErrorCode, listOf, type TokenScope } from '@tenon/protocol';
import type { Static, TObject, TSchema } from 'typebox';
import type { CacheVersion } from '../cache/invalidation-log.ts';
import type { ApiKeyRecord, SessionRecord } from '../db/records.ts';
import type { Actor, AppAccess, ExtensionPointAccess, PermissionName, Services } from '../services.ts';
import type { BodyReader } from './bodies/body-reader.ts';
import type { ErrorFormat } from './http-error.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';

/** Who may call a route. Checked before the body is read. */
export type Access =
  | { readonly kind: 'public' }
  /** Without credentials, but only from the server's own pages: routes that set or use a cookie. */
  | { readonly kind: 'ownOrigin' }
  /** A signed-in browser, from the server's own pages only. */
  | { readonly kind: 'session' }
  | { readonly kind: 'apiKey' }
  /** An access token: any, with a scope, not restricted to an application, or an operator's. */
  | { readonly kind: 'user'; readonly scope?: TokenScope; readonly userLevel?: true; readonly operator?: true }
  /** An access token with this permission for the application in the path, `:appId`. */
  | { readonly kind: 'app'; readonly purpose: PermissionName }
  /** An access token with this permission for the extension point in the path, `:extensionPointId`. */
  | { readonly kind: 'extensionPoint'; readonly purpose: PermissionName }
  /** An access token with this permission for the plugin that the OCI repository in the path names. */
  | { readonly kind: 'repository'; readonly purpose: PermissionName }
  /** An access token that may read the content at the address in the path, `:contentAddress`. */
  | { readonly kind: 'content' };

/** The result of authorization. */
interface AuthContextByKind {
  public: object;
  ownOrigin: object;
  session: { readonly session: SessionRecord };
  apiKey: { readonly apiKey: ApiKeyRecord };
  user: { readonly actor: Actor };
  app: { readonly actor: Actor; readonly access: AppAccess };
  extensionPoint: { readonly actor: Actor; readonly access: ExtensionPointAccess };
  repository: { readonly actor: Actor; readonly access: ExtensionPointAccess; readonly target: RepositoryTarget };
  content: { readonly actor: Actor; readonly address: ContentAddress };
}

export type AuthContext<A extends Access = Access> = AuthContextByKind[A['kind']];

/** The plugin that an OCI repository names. */
interface RepositoryTarget {
  readonly userId: string;
  readonly name: string;
}

type PathParams<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : Path extends `${string}:${infer Name}`
    ? { readonly [K in Name]: string }
    : object;

/** An authorized and validated request, for a route's handler. */
export interface Call<A extends Access, Path extends string, Query extends TObject, Body> {
  readonly request: Request;
  readonly auth: AuthContext<A>;
  readonly params: PathParams<Path>;
  readonly query: Static<Query>;
  readonly body: Body;
  /** The cache version before authorization. Pass it to `set()` when caching a result of this call. */
  readonly since: CacheVersion;
}

/** Describes a successful response, for OpenAPI. */
export interface SuccessDoc {
  readonly description: string;
  readonly schema?: TSchema;
  /** Default: JSON. */
  readonly contentType?: string;
  /** Descriptions of header fields, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly example?: unknown;
  /** The JSON alternative that the query may select. */
  readonly orJson?: { readonly schema: TSchema; readonly example: unknown };
}

export function json(description: string, schema: TSchema, example: unknown, headers: SuccessDoc['headers'] = {}) {
  return { description, schema, example, headers };
}

export function jsonList(description: string, item: TSchema, example: unknown) {
  return json(description, listOf(item), { objects: [example] });
}

/** The tags of the OpenAPI description, with their descriptions. */
export const tags = {
  Distribution: 'for hosts: list the plugins bound to a guest key, and fetch their bytes',
  Plugins: 'publish, read, and delete plugins',
  Versions: "a plugin's versions: list, roll back, yank, restore, approve",
  OCI: 'pull and push plugins with OCI clients',
  'Team control': "decisions of an application's team: pin bindings, block plugins, end withdrawals",
  Applications: 'applications and their members',
  'Extension points': "an application's extension points and their schemas",
  Simulations: 'tests of an extension point that plugins must pass',
  Guests: "an application's guests and their invitations",
  Invitations: 'accept or decline an invitation',
  'Roll-outs': 'bring versions to guests step by step',
  Webhooks: "send an application's audit events to URLs",
  Usage: 'how often hosts list and fetch plugins, and which versions they run',
  'Tokens and keys': 'access tokens for the API, and API keys for instrumentation',
  Account: 'your account and its browser sessions',
  Users: 'for operators: the users of the server',
  'Browser session': "sign-in for the console's pages; requests from other origins are rejected",
  'Command-line login': 'OAuth 2.0: a program gets an access token that a person approves',
  Instrumentation: 'add tracing to a module',
  Packages: 'the libraries and the command line, for `npm install`',
  Documentation: 'this documentation, for browsers',
  Operation: "the server's health, status, and API description",
  Pages: 'pages for browsers',
} as const;
export type Tag = keyof typeof tags;

/** The part of a declaration that only describes the route, for OpenAPI. */
export interface RouteDoc {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** By status. The lowest one is the default of the reply. */
  readonly responses: Readonly<Record<number, SuccessDoc>>;
  /** Errors besides those that follow from access, query and body. */
  readonly errors?: readonly ErrorCode[];
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** Describes the wildcard at the end of the path. */
  readonly wildcard?: { readonly name: string; readonly description: string };
}

/** A route without its method and path. */
interface RouteDeclaration<A extends Access, Path extends string, Query extends TObject, Body> extends RouteDoc {
  readonly access: A;
  readonly query?: Query;
  readonly body?: BodyReader<Body> | undefined;
  /** `TENON_ONLY=instrument` disables the area `distribution`, which is the default. */
  readonly area?: 'distribution' | 'instrumentation' | 'both';
  /** Don't decode the wildcard: see {@link Request.rawWildcard}. */
  readonly rawWildcard?: true;
  /** Serves HTML pages or their files, without CORS. */
  readonly page?: true;
  /** The format of errors, including the router's. Default: problem documents. */
  readonly errorFormat?: ErrorFormat;
  /** The handler limits concurrent requests itself, because its responses are streams. */
  readonly hasOwnLimit?: true;
  /** Header fields of all responses, including errors. */
  readonly headers?: (services: Services) => Readonly<Record<string, string>>;
  /** Checks that don't need the body. Throws to reject the request. */
  readonly beforeBody?: (services: Services, call: Omit<Call<A, Path, Query, Body>, 'body'>) => void;
  readonly handle: (services: Services, call: Call<A, Path, Query, Body>, reply: Reply) => unknown;
}

export interface Route extends RouteDeclaration<Access, string, TObject, unknown> {
  readonly tag: Tag;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A template: `:name` stands for a segment, `*` at the end for the rest. */
  readonly path: string;
}

/** Returns a function that declares routes with this tag. The types of a handler follow from the declaration. */
export function routeTagged(tag: Tag) {
  return <const A extends Access, const Path extends string, Query extends TObject, Body = undefined>(
    method: Route['method'],
    path: Path,
    declaration: RouteDeclaration<A, Path, Query, Body>,
  ): Route => ({ tag, method, path, ...declaration }) as unknown as Route;
}
