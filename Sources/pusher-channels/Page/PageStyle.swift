enum PageStyle {
    /// The live page's style, in light and dark.
    static let css = #"""
        :root {
          color-scheme: light dark;
          --page: #f6f6f8; --card: #fff; --line: #e3e3e9; --field: #fff; --field-line: #8a8a99;
          --text: #1d1d24; --quiet: #5d5d6b; --accent: #5b3df0; --on-accent: #fff;
          --good: #15803d; --bad: #b91c1c; --code: #f3f2fa; --new: #f1eeff;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #131318; --card: #1c1c23; --line: #2d2d37; --field: #15151b; --field-line: #757586;
            --text: #ececf1; --quiet: #a5a5b3; --accent: #b3a4ff; --on-accent: #17132e;
            --good: #4ade80; --bad: #fca5a5; --code: #24242e; --new: #27243d;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; max-width: 76rem; padding: 1.75rem 1.5rem 3rem;
          background: var(--page); color: var(--text); font: 0.9375rem/1.5 system-ui, sans-serif;
        }
        [hidden] { display: none !important; }
        h1, h2, p, dl, dd, ul, ol { margin: 0; padding: 0; }
        h1 { font-size: 1.375rem; font-weight: 650; letter-spacing: -0.01em; }
        h1 .quiet { font-weight: 400; }
        h2 { display: flex; align-items: center; gap: 0.5rem; font-size: 1rem; font-weight: 600; }
        code, .code, input, textarea, dd { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 0.8125rem; }
        .quiet, .empty, .pager, dt { color: var(--quiet); }

        header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.5rem 1.25rem; margin-bottom: 1.5rem; }
        #status { display: flex; align-items: center; gap: 0.5rem; font-size: 0.875rem; color: var(--quiet); }
        #status::before { content: ""; width: 0.6rem; height: 0.6rem; border-radius: 50%; background: var(--quiet); }
        #status[data-state="live"]::before { background: var(--good); }
        #status[data-state="lost"] { color: var(--bad); }
        #status[data-state="lost"]::before { background: var(--bad); }
        header:has([data-state="lost"]) ~ main .list { opacity: 0.5; }
        #facts { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; margin-left: auto; }
        #facts div { display: flex; gap: 0.5rem; align-items: baseline; }
        dt { font-size: 0.8125rem; }
        dd { overflow-wrap: anywhere; }

        main { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 1.25rem; align-items: start; }
        .column { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem; }
        @media (max-width: 52rem) { main { grid-template-columns: minmax(0, 1fr); } #facts { margin-left: 0; } }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 0.75rem; padding: 1.125rem 1.25rem; }
        .count { font-size: 0.8125rem; font-weight: 500; color: var(--quiet); font-variant-numeric: tabular-nums; }
        .empty { margin-top: 0.625rem; }
        .empty code { display: block; margin-top: 0.5rem; padding: 0.5rem 0.75rem; border-radius: 0.5rem; background: var(--code); color: var(--text); overflow-wrap: anywhere; }
        .empty code span { display: inline-block; }
        .pager { display: flex; align-items: center; justify-content: space-between; gap: 0.5rem; margin-top: 1.125rem; font-size: 0.8125rem; font-variant-numeric: tabular-nums; }
        .tools { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-top: 0.75rem; }
        .tools input { flex: 1 1 10rem; width: auto; min-width: 0; }
        .tools select { width: auto; }
        .tools button.plain { padding-inline: 0.625rem; }
        .tools :is(input, select) { font: inherit; font-size: 0.8125rem; }
        .box { overflow: auto; }
        .card > .box { max-height: 24rem; margin: 0.5rem -1.25rem; padding: 0 1.25rem; }
        .card > .box:last-child { margin-bottom: -1.125rem; padding-bottom: 1.125rem; border-radius: 0 0 0.75rem 0.75rem; }
        #log-box { max-height: min(44rem, 80vh); }
        .data.box { max-height: 20rem; }

        form { display: grid; gap: 0.875rem; margin-top: 0.875rem; }
        .pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(12rem, 100%), 1fr)); gap: 0.875rem; }
        .field { display: grid; gap: 0.25rem; }
        label { font-size: 0.8125rem; font-weight: 500; }
        input, textarea, select {
          width: 100%; padding: 0.5rem 0.625rem; border: 1px solid var(--field-line); border-radius: 0.5rem;
          background: var(--field); color: inherit;
        }
        textarea { display: block; resize: vertical; line-height: 1.5; }
        .actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.625rem 0.875rem; font-size: 0.8125rem; }
        button {
          padding: 0.5rem 1.125rem; border: 0; border-radius: 0.5rem; background: var(--accent); color: var(--on-accent);
          font: inherit; font-size: 0.9375rem; font-weight: 600; cursor: pointer;
        }
        button:hover { filter: brightness(1.08); }
        button.plain { padding: 0.375rem 0.75rem; border: 1px solid var(--field-line); background: none; color: inherit; font-size: 0.8125rem; font-weight: 500; }
        button.plain:hover:enabled { background: var(--code); }
        button.link { padding: 0; border-radius: 0.125rem; background: none; color: var(--accent); font: inherit; font-size: 0.8125rem; text-decoration: underline; text-underline-offset: 0.15em; }
        button:disabled { opacity: 0.5; cursor: default; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        #outcome:empty { display: none; }
        #outcome { font-size: 0.875rem; color: var(--good); overflow-wrap: anywhere; }
        #outcome.bad { color: var(--bad); }

        .list { list-style: none; }
        .list > li { padding: 0.625rem 0; border-top: 1px solid var(--line); overflow-y: clip; }
        .list > li:first-child { border-top: 0; }
        .list > li:last-child { padding-bottom: 0; }
        .row { display: flex; align-items: baseline; gap: 0.125rem 0.625rem; flex-wrap: wrap; }
        .row > .end { margin-left: auto; font-size: 0.8125rem; color: var(--quiet); font-variant-numeric: tabular-nums; white-space: nowrap; }
        .name, .what { overflow-wrap: anywhere; }
        .name { font-weight: 600; }
        .detail { font-size: 0.8125rem; color: var(--quiet); overflow-wrap: anywhere; }
        .data { margin-top: 0.375rem; padding: 0.5rem 0.75rem; border-radius: 0.5rem; background: var(--code); white-space: pre-wrap; overflow-wrap: anywhere; }
        .rest { color: var(--quiet); }
        .decrypted { color: var(--good); }
        .unreadable, .detail.refused { color: var(--bad); }
        .row > .end.link { color: var(--accent); }
        .row > .detail { flex: 1 1 10rem; }
        @media (max-width: 30rem) { .row > .detail { order: 1; flex-basis: 100%; } }
        @media (prefers-reduced-motion: no-preference) {
          .list > li.new { animation: arrive 1.6s ease-out; }
          @keyframes arrive { from { background: var(--new); box-shadow: -0.75rem 0 var(--new), 0.75rem 0 var(--new); } }
        }
        """#
}
