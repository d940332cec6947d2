// A browser lets no page that was opened as a file start a worker. This one runs in a frame that nobody sees, so that the search works there too.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame;
      const inside = frame.contentWindow;
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      const load = (source) => new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        Object.assign(script, { src: source, onload: done, onerror: failed });
        inside.document.body.append(script);
      });
      inside.importScripts = async (...sources) => {
        for (const source of sources) await load(source);
      };
      this.ready = load(new URL(url, location));
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
