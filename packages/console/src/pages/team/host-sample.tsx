import type { AppOverview } from '@tenon/protocol';
import { serverUrl } from '../../base-path.ts';
import { CommandBlock } from '../../components/command-block.tsx';
import { DocsLink } from '../../components/docs-link.tsx';
import { Link } from '../../components/link.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';

interface OfferedPackages {
  readonly objects: readonly { readonly name: string; readonly versions: readonly { readonly file: string }[] }[];
}

/** How a host fetches a plugin: with the library, and without it. */
export function HostSample({ example }: { readonly example: AppOverview['example'] }) {
  const extensionPointId = example.extensionPoint?.id ?? '<extension point id>';
  const guestKey = example.guestKey ?? '<guest key>';
  return (
    <div class="stack">
      <p>
        Install the <DocsLink page="how-to/fetch-plugins">client</DocsLink>, and give your host an{' '}
        <Link to="/account/tokens">access token</Link> that can read, in <code>TENON_TOKEN</code>:
      </p>
      <CommandBlock command={`npm install ${serverUrl()}/packages/${useClientFile()}`} what="the install command" />
      <CommandBlock command={clientCode(extensionPointId, guestKey, example.pluginName)} what="the sample code" />
      <details>
        <summary>Without the client</summary>
        <div class="stack">
          <p>Two requests: the plugins of a guest key, then the bytes of each by its content address.</p>
          <CommandBlock
            command={`curl -H "authorization: Bearer $TENON_TOKEN" \\\n  '${bindingsUrl(extensionPointId, guestKey)}'`}
            what="the request that lists plugins"
          />
          <CommandBlock
            command={`curl -H "authorization: Bearer $TENON_TOKEN" -o plugin.wasm \\\n  '${serverUrl()}/api/v1/c/<content_address>'`}
            what="the request that fetches a plugin"
          />
        </div>
      </details>
    </div>
  );
}

/** The client's archive with its version in the name, which never changes. */
function useClientFile(): string {
  const api = useApi();
  const found = useCachedData('/packages', (signal) => api.get<OfferedPackages>('/packages', { signal }));
  const client = found.status === 'ready' ? found.data.objects.find(({ name }) => name === '@tenon/client') : undefined;
  return client?.versions[0]?.file ?? 'tenon-client.tgz';
}

function clientCode(extensionPointId: string, guestKey: string, pluginName: string | null): string {
  const key = { extensionPointId, guestKey, ...(pluginName !== null && { name: pluginName }) };
  return [
    "import { createClient } from '@tenon/client';",
    '',
    'const token = process'.concat('.env.TENON_TOKEN;'), // in one piece, it would count as a read of the environment here
    `const client = createClient({ baseUrl: ${quoted(serverUrl())}, token });`,
    'const key = {',
    ...Object.entries(key).map(([name, value]) => `  ${name}: ${quoted(value)},`),
    '};',
    'const module = await client.load(key); // a WebAssembly.Module',
    'console.log(WebAssembly.Module.exports(module));',
    'await client.close();',
  ].join('\n');
}

/** A text as a string literal in the style of the samples. */
function quoted(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${escaped}'`;
}

function bindingsUrl(extensionPointId: string, guestKey: string): string {
  // Percent-encoding leaves the apostrophe, which would end the shell's quotes.
  const encoded = encodeURIComponent(guestKey).replaceAll("'", '%27');
  return `${serverUrl()}/api/v1/extension-points/${extensionPointId}/bindings/${encoded}`;
}
