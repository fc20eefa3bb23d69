import { serverUrl } from '../base-path.ts';
import { CommandBlock } from './command-block.tsx';
import { DocsLink } from './docs-link.tsx';

/** How to install `tenon`, from this server. */
export function InstallCommand() {
  return (
    <div>
      <p class="small soft">
        Install the <DocsLink page="how-to/publish-a-plugin">command line</DocsLink> once. It needs Node.js 22.16 or
        later:
      </p>
      <CommandBlock command={`npm install --global ${serverUrl()}/packages/tenon-cli.tgz`} what="the install command" />
    </div>
  );
}
