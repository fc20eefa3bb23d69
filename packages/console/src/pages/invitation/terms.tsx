/** What it means to be a guest of an application; of the rules in `docs/reference/http-api.md`, who may do what. */
export function Terms({ appName }: { readonly appName: string }) {
  return (
    <div class="terms stack">
      <p>As a guest you will be able to</p>
      <ul class="ticks">
        <li>see the application’s extension points, and what a plugin for each has to export</li>
        <li>
          publish plugins of your own, which <strong>{appName}</strong> may then run
        </li>
        <li>see and download the plugins that you published</li>
      </ul>
      <p class="soft small">
        You will not see other guests or their plugins. The team sees your name and your plugins, not your e‑mail
        address, and can end it at any time.
      </p>
    </div>
  );
}
