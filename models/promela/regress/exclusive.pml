// expect: violation=exclusive-channel
/* Pins: 'xs' is checked: auditor may not send on the channel that writer claims. */
chan log = [2] of { byte };

active proctype reader()
{
        byte entry;
        xr log;
end:    do
        :: log ? entry
        od
}

active proctype writer()
{
        xs log;
        log ! 1;
        log ! 2
}

active proctype auditor()
{
        if
        :: log ! 3
        :: skip
        fi
}
