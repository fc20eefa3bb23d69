/**
 * Whether this server is about to stop. It serves as ever while it drains, but says to those who ask whether it is ready that they
 * should send to others: what is sent to a server that no longer listens is lost.
 */
export type Draining = ReturnType<typeof createDraining>;

export function createDraining() {
  let isDraining = false;
  return {
    begin(): void {
      isDraining = true;
    },
    isOn: (): boolean => isDraining,
  };
}
