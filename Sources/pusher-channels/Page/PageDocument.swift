/// The live page's one file. It loads nothing: its style and its script are in it.
enum PageDocument {
    /// Returns the file. The browser accepts only a style and a script with this nonce.
    static func html(nonce: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Pusher Channels</title>
        <link rel="icon" href="\(icon)">
        <style nonce="\(nonce)">
        \(PageStyle.css)
        </style>
        </head>
        <body>
        \(body)
        <script nonce="\(nonce)">
        \(PageScript.javaScript)
        </script>
        </body>
        </html>

        """
    }

    private static let icon =
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='6' fill='%236d4aff'/%3E%3C/svg%3E"

    private static let body = #"""
        <header>
          <h1>Pusher Channels <span class="quiet">local server</span></h1>
          <p id="status" role="status" data-state="waiting">Connecting</p>
          <dl id="facts">
            <div><dt>Address</dt><dd id="address"></dd></div>
            <div><dt>App key</dt><dd id="keys"></dd></div>
            <div><dt>Imitates</dt><dd id="profile"></dd></div>
          </dl>
        </header>
        <noscript><p class="card">This page needs JavaScript to show what goes on.</p></noscript>
        <main>
          <div class="column">
            <section class="card" aria-labelledby="publish-title">
              <h2 id="publish-title">Publish an event</h2>
              <form id="publish" autocomplete="off">
                <div id="app-field" class="field" hidden><label for="app">App key</label><select id="app"></select></div>
                <div class="pair">
                  <div class="field">
                    <label for="channel">Channel</label>
                    <input id="channel" value="my-channel" list="channel-names" required spellcheck="false" autocapitalize="off">
                    <datalist id="channel-names"></datalist>
                  </div>
                  <div class="field">
                    <label for="event">Event</label>
                    <input id="event" value="my-event" required spellcheck="false" autocapitalize="off">
                  </div>
                </div>
                <div class="field">
                  <label for="data">Data</label>
                  <textarea id="data" rows="3" spellcheck="false" aria-describedby="data-hint">{"message": "hello"}</textarea>
                </div>
                <div class="actions">
                  <button id="send">Publish</button>
                  <span id="data-hint" class="quiet">Enter publishes, Shift+Enter begins a new line.</span>
                </div>
                <p id="outcome" role="status"></p>
              </form>
            </section>
            <section class="card" aria-labelledby="events-title">
              <h2 id="events-title">Events <span id="event-count" class="count">0</span></h2>
              <p id="no-events" class="empty">Nothing yet. What is published here, by the HTTP API or by clients appears in this list.</p>
              <ol id="events" class="list" reversed></ol>
              <p id="more-events" class="more" hidden></p>
            </section>
          </div>
          <div class="column">
            <section class="card" aria-labelledby="channels-title">
              <h2 id="channels-title">Channels <span id="channel-count" class="count">0</span></h2>
              <p id="no-channels" class="empty">Nobody is subscribed to a channel.</p>
              <ul id="channels" class="list"></ul>
              <p id="more-channels" class="more" hidden></p>
            </section>
            <section class="card" aria-labelledby="connections-title">
              <h2 id="connections-title">Connections <span id="connection-count" class="count">0</span></h2>
              <div id="no-connections" class="empty"><p>No client is connected. To connect one:</p><code id="hint"></code></div>
              <ul id="connections" class="list"></ul>
              <p id="more-connections" class="more" hidden></p>
            </section>
          </div>
        </main>
        """#
}
