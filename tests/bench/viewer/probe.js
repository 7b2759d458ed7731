// SPDX-License-Identifier: BSD-3-Clause
// Put into the page before its own script: when it shows what. A frame ends when its layout and painting
// are done; what a change in the page shows at is the end of the first frame that ends after it. A change of the
// view counts where it is in sight when that frame ends.
(() => {
  const frames = [];
  const changes = { view: 0, page: 0 };
  let fresh = new Set(); // elements of the view that changed since the last frame
  const channel = new MessageChannel();
  const changed = (node) => {
    changes.page = performance.now();
    const element = node?.nodeType === 1 ? node : node?.parentElement;
    if (element?.closest?.("#view")) fresh.add(element);
  };
  const inSight = (element) => {
    const { top, bottom, width } = element.getBoundingClientRect();
    return element.isConnected && width > 0 && bottom > 0 && top < innerHeight;
  };
  // Writing what is there already is no change.
  const same = ({ type, target, attributeName, oldValue }) =>
    type !== "childList" && oldValue === (type === "attributes" ? target.getAttribute(attributeName) : target.data);
  new MutationObserver((list) => list.forEach((change) => same(change) || changed(change.target))).observe(document, {
    subtree: true, childList: true, characterDataOldValue: true, attributeOldValue: true,
  });
  // All drawings here begin by it.
  const { clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...args) {
    if (this.canvas.isConnected) changed(this.canvas);
    return clearRect.apply(this, args);
  };
  channel.port1.onmessage = () => {
    const end = performance.now();
    frames.push(end);
    // The frame that has just ended shows them.
    if ([...fresh].some(inSight)) changes.view = end - 1e-3;
    fresh = new Set();
    if (frames.length > 1000) frames.splice(0, 500);
  };
  const frame = () => {
    channel.port2.postMessage(0);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);

  const frameAfter = (at) => frames.find((end) => end > at);
  const rest = (ms) => new Promise((done) => setTimeout(done, ms));
  const QUIET = 120; // ms without a change, then an action is over

  // Until nothing changes any more; a page without a change has answered by its next frame.
  async function quiet(since) {
    let last;
    do {
      last = changes.page;
      await rest(QUIET);
    } while (changes.page !== last || !frameAfter(Math.max(last, since)));
  }

  globalThis.probe = {
    async act(run) {
      const start = performance.now();
      run();
      await quiet(start);
      const shown = (scope) => frameAfter(Math.max(start, changes[scope])) - start;
      return { view: shown("view"), page: shown("page"), waited: performance.now() - start };
    },
    // From the start of the navigation.
    async opened(selector) {
      while (!document.querySelector(selector)) await rest(10);
      await quiet(0);
      return frameAfter(changes.page);
    },
  };
})();
