print("pusher-channels")
